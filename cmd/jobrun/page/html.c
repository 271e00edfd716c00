/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/page/html.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/ui/embedded.h"
#include "core/base/base64.h"
#include "core/base/digest.h"
#include "core/base/show.h"

static void escape(struct buf *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			buf_puts(out, "&amp;");
			break;
		case '<':
			buf_puts(out, "&lt;");
			break;
		case '>':
			buf_puts(out, "&gt;");
			break;
		case '"':
			buf_puts(out, "&quot;");
			break;
		case '\'':
			buf_puts(out, "&#39;");
			break;
		default:
			buf_putc(out, *text);
		}
	}
}

void html_text(struct buf *out, const char *text)
{
	struct buf shown = { 0 };

	show_text(&shown, text);
	escape(out, buf_text(&shown));
	buf_done(&shown);
}

void html_lines(struct buf *out, const char *text)
{
	struct buf line = { 0 };

	while (*text) {
		size_t len = strcspn(text, "\n");

		buf_clear(&line);
		buf_add(&line, text, len);
		html_text(out, buf_text(&line));
		buf_putc(out, '\n');
		text += len + (text[len] == '\n');
	}
	buf_done(&line);
}

void html_row(struct buf *out, const char *name, const char *value)
{
	if (!value)
		return;
	buf_puts(out, "<tr><th scope=\"row\">");
	html_text(out, name);
	buf_puts(out, "</th><td>");
	html_text(out, value);
	buf_puts(out, "</td></tr>\n");
}

/* Returns one of the files next to this one, which are embedded. */
static const char *piece(const char *path)
{
	const struct embedded *file = page_files;

	while (file->path && strcmp(file->path, path) != 0)
		file++;
	return file->path ? file->text : "";
}

/* Adds the source of a policy that allows exactly this text. */
static void add_source(struct buf *out, const char *text)
{
	unsigned char raw[32];
	struct digest digest;

	digest_bytes(text, strlen(text), &digest);
	for (size_t i = 0; i < sizeof(raw); i++) {
		char hex[3] = { digest.hex[2 * i], digest.hex[2 * i + 1], 0 };

		raw[i] = (unsigned char)strtoul(hex, NULL, 16);
	}
	buf_puts(out, "'sha256-");
	base64_add(out, raw, sizeof(raw));
	buf_putc(out, '\'');
}

void html_begin(struct buf *out, const char *title, const char *under)
{
	buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		      "<meta charset=\"utf-8\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" "
		      "content=\"default-src 'none'; base-uri 'none'; "
		      "form-action 'none'; style-src 'unsafe-inline'; "
		      "script-src ");
	add_source(out, piece("script.js"));
	buf_puts(out, "\">\n<meta name=\"viewport\" "
		      "content=\"width=device-width, initial-scale=1\">\n"
		      "<meta name=\"color-scheme\" content=\"light dark\">\n"
		      "<title>");
	html_text(out, title);
	buf_puts(out, "</title>\n<style>\n");
	buf_puts(out, piece("style.css"));
	buf_puts(out, "</style>\n</head>\n<body>\n<header>\n<h1>");
	html_text(out, title);
	buf_puts(out, "</h1>\n<p>");
	html_text(out, under);
	buf_puts(out, "</p>\n</header>\n<main>\n");
}

void html_end(struct buf *out)
{
	buf_puts(out, "</main>\n<footer><p>Made by jobrun " JOBRUN_VERSION
		      ". This file loads nothing else.</p></footer>\n"
		      "<script>");
	buf_puts(out, piece("script.js"));
	buf_puts(out, "</script>\n</body>\n</html>\n");
}
