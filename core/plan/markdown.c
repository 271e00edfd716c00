/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/markdown.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/digest.h"
#include "core/base/show.h"
#include "core/base/text.h"

char *markdown_line(const char *text, size_t skip, size_t width)
{
	struct buf all = { 0 }, cut = { 0 };
	struct digest digest;
	size_t columns;

	show_text(&all, text);
	columns = show_width(buf_text(&all));
	if (!width || columns <= width)
		return buf_take(&all);
	show_cut(&cut, buf_text(&all), skip, width);
	/* The marks "…" are not counted as characters of the text. */
	buf_printf(&cut, " [%zu of %zu characters left out",
		   columns - (show_width(buf_text(&cut)) - !!skip -
			      text_ends(buf_text(&cut), "…")),
		   columns);
	digest_bytes(all.data, all.len, &digest);
	buf_printf(&cut, "; SHA-256 of the whole: %s", digest.hex);
	buf_putc(&cut, ']');
	buf_done(&all);
	return buf_take(&cut);
}

static size_t longest_run(const char *text, char c)
{
	size_t longest = 0, n = 0;

	for (; *text; text++) {
		n = *text == c ? n + 1 : 0;
		longest = n > longest ? n : longest;
	}
	return longest;
}

/* The fence is longer than any run of backticks in the text. */
void markdown_code(struct buf *out, const char *text)
{
	char *line = markdown_line(text, 0, MARKDOWN_NAME_WIDTH);
	size_t n = longest_run(line, '`') + 1;
	bool pad = line[0] == '`' || line[0] == ' ' || !line[0] ||
		   line[strlen(line) - 1] == '`';

	buf_fill(out, '`', n);
	buf_printf(out, "%s%s%s", pad ? " " : "", line, pad ? " " : "");
	buf_fill(out, '`', n);
	free(line);
}

void markdown_sentence(struct buf *out, const char *text, size_t width)
{
	char *line = markdown_line(text, 0, width);
	const char *p;

	for (p = line; *p; p++) {
		if (*p == '<')
			buf_puts(out, "&lt;");
		else if (*p == '>')
			buf_puts(out, "&gt;");
		else if (*p == '&')
			buf_puts(out, "&amp;");
		else {
			if (strchr("\\`*_[]|~$#!", *p))
				buf_putc(out, '\\');
			buf_putc(out, *p);
		}
	}
	free(line);
}

void markdown_html(struct buf *out, const char *text)
{
	char *line = markdown_line(text, 0, MARKDOWN_NAME_WIDTH);
	const char *p;

	for (p = line; *p; p++) {
		if (strchr("&<>\"`*_[]\\~$", *p))
			buf_printf(out, "&#%d;", *p);
		else
			buf_putc(out, *p);
	}
	free(line);
}

/* ---- sections ---------------------------------------------------------- */

void section_end_entry(struct section *section)
{
	if (section->count == section->room) {
		section->room = section->room ? 2 * section->room : 16;
		section->ends = mem_grow(section->ends, section->room,
					 sizeof(*section->ends));
	}
	section->ends[section->count++] = section->text.len;
}

void section_done(struct section *section)
{
	buf_done(&section->text);
	free(section->ends);
}

static size_t start_of(const struct section *section, size_t i)
{
	return i ? section->ends[i - 1] : 0;
}

size_t section_choose(const struct section *section, unsigned char *taken,
		      size_t *left)
{
	size_t head = section->title ? strlen(section->title) + 2 : 0;
	size_t i, n = 0;

	for (i = 0; i < section->count; i++) {
		size_t len = section->ends[i] - start_of(section, i);

		if (len + (n ? 0 : head + 1) > *left)
			continue;
		*left -= len + (n ? 0 : head + 1);
		taken[i] = 1;
		n++;
	}
	return n;
}

void section_write(const struct section *section, const unsigned char *taken,
		   size_t n, struct buf *out)
{
	size_t i;

	if (!n)
		return;
	buf_putc(out, '\n');
	if (section->title)
		buf_printf(out, "%s\n\n", section->title);
	for (i = 0; i < section->count; i++)
		if (taken[i])
			buf_add(out, section->text.data + start_of(section, i),
				section->ends[i] - start_of(section, i));
}
