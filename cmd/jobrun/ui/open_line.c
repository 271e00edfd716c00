/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/open_line.h"

/* Adds the text as a terminal shows it in one row of `width`: without
 * characters that move its cursor, and no half of a character. */
static void add_printable(const char *text, size_t len, size_t width,
			  struct buf *out)
{
	size_t columns = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if ((c & 0xc0) != 0x80 && ++columns > width)
			break;
		buf_putc(out, c < ' ' || c == 0x7f ? ' ' : (char)c);
	}
}

bool open_line_format(struct log_reader *reader, int width, struct buf *out)
{
	struct log_line line;
	struct buf whole = { 0 };

	if (!log_reader_open_line(reader, &line))
		return false;
	log_line_format(&line, false, &whole);
	/* Without its newline; and the last column would wrap. */
	add_printable(whole.data, whole.len - 1, (size_t)width - 1, out);
	buf_done(&whole);
	return true;
}
