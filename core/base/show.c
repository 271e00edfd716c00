/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/show.h"

#include <stdbool.h>
#include <string.h>

#include "core/base/text.h"

#define ELLIPSIS "…"

/* Characters that are invisible or shown in another place: controls (terminals
 * obey some), characters without width, marks that change the direction of text
 * or the form of the character before them. */
static const struct {
	unsigned first, last;
} unseen[] = {
	{ 0x80, 0x9f },       { 0xad, 0xad },       { 0x34f, 0x34f },
	{ 0x61c, 0x61c },     { 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },
	{ 0x180b, 0x180f },   { 0x200b, 0x200f },   { 0x2028, 0x202e },
	{ 0x2060, 0x206f },   { 0x3164, 0x3164 },   { 0xfe00, 0xfe0f },
	{ 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb },
	{ 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
};

/* The code point of a valid sequence. */
static unsigned code_point(const unsigned char *p, size_t len)
{
	unsigned point = len == 2   ? p[0] & 0x1fU
			 : len == 3 ? p[0] & 0x0fU
				    : p[0] & 0x07U;
	size_t i;

	for (i = 1; i < len; i++)
		point = point << 6 | (p[i] & 0x3fU);
	return point;
}

static bool is_unseen(unsigned point)
{
	size_t i;

	for (i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++)
		if (point >= unseen[i].first && point <= unseen[i].last)
			return true;
	return false;
}

/* Shows a character of several bytes: as it is, or as its number. */
static void show_character(struct buf *out, const char *text, size_t len)
{
	unsigned point = code_point((const unsigned char *)text, len);

	if (!is_unseen(point))
		buf_add(out, text, len);
	else if (point > 0xffff)
		buf_printf(out, "\\U%08x", point);
	else
		buf_printf(out, "\\u%04x", point);
}

void show_text(struct buf *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	while (*p) {
		size_t len = text_utf8_len((const char *)p);

		if (len > 1) {
			show_character(out, (const char *)p, len);
			p += len;
			continue;
		}
		if (*p == '\n')
			buf_puts(out, "\\n");
		else if (*p == '\t')
			buf_puts(out, "\\t");
		else if (*p == '\r')
			buf_puts(out, "\\r");
		else if (*p < 0x20 || *p == 0x7f)
			buf_printf(out, "\\x%02x", *p);
		else
			buf_putc(out, (char)*p);
		p++;
	}
}

/* The length of a command's name at `p`, up to where an escape would break it;
 * 0: not a command.  `blank`: nothing precedes it in its line. */
static size_t command_head(const char *p, bool blank)
{
	static const char *const sections[] = { "section_start:",
						"section_end:" };

	if (blank && text_starts(p, "::"))
		return 1;
	if (text_starts(p, "##[") || text_starts(p, "##vso["))
		return 1;
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
		if (text_starts(p, sections[i]))
			return strlen("section");
	return 0;
}

void show_disarmed(struct buf *out, const char *lines)
{
	bool blank = true;
	const char *p = lines;

	while (*p) {
		size_t head = command_head(p, blank);

		if (head) {
			buf_add(out, p, head);
			buf_printf(out, "\\x%02x", (unsigned char)p[head]);
			p += head + 1;
			blank = false;
			continue;
		}
		blank = *p == '\n' || (blank && strchr(" \t", *p));
		buf_putc(out, *p++);
	}
}

static bool is_start(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

size_t show_width(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += is_start(*text);
	return n;
}

/* The start of the character at a column. */
static const char *at_column(const char *text, size_t column)
{
	for (; *text; text++) {
		if (!is_start(*text))
			continue;
		if (!column--)
			break;
	}
	return text;
}

void show_cut(struct buf *out, const char *text, size_t skip, size_t width)
{
	if (skip) {
		buf_puts(out, ELLIPSIS);
		text = at_column(text, skip);
		width = width > 1 ? width - 1 : width;
	}
	if (!width || show_width(text) <= width) {
		buf_puts(out, text);
		return;
	}
	buf_add(out, text, (size_t)(at_column(text, width - 1) - text));
	buf_puts(out, ELLIPSIS);
}
