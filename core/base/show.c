/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/show.h"

#include <stdbool.h>
#include <string.h>

#define ELLIPSIS "…"

/* U+0080 to U+009F (terminals obey some), and the marks that change the
 * direction of what follows: U+200E/F, U+202A to U+202E, U+2066 to U+2069. */
static bool is_unsafe(const unsigned char *p, size_t *len, unsigned *point)
{
	if (p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f) {
		*len = 2;
		*point = p[1];
		return true;
	}
	if (p[0] != 0xe2 || (p[1] != 0x80 && p[1] != 0x81) || !p[2])
		return false;
	*len = 3;
	*point = 0x2000u | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
	return *point == 0x200e || *point == 0x200f ||
	       (*point >= 0x2028 && *point <= 0x202e) ||
	       (*point >= 0x2066 && *point <= 0x2069);
}

void show_text(struct buf *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	unsigned point;
	size_t len;

	while (*p) {
		if (is_unsafe(p, &len, &point)) {
			buf_printf(out, "\\u%04x", point);
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
