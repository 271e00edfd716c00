/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/open_line.h"

#define QUIET_MS 500
#define ERASE "\r\033[K"

/* What a terminal would show of it in one row of `width`: nothing that moves
 * its cursor, no half of a character. */
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

static void show(void *arg, uint32_t events)
{
	struct open_line *line = arg;
	struct log_line found;
	struct buf whole = { 0 }, text = { 0 };

	(void)events;
	line->timer = NULL;
	if (!log_reader_open_line(line->reader, &found))
		return;
	log_line_format(&found, false, &whole);
	if (line->shown)
		buf_puts(&text, ERASE);
	/* Without its newline; and the last column would wrap. */
	add_printable(whole.data, whole.len - 1, (size_t)line->app->width - 1,
		      &text);
	app_print(line->app, &text);
	line->shown = true;
	buf_done(&whole);
	buf_done(&text);
}

void open_line_later(struct open_line *line)
{
	if (!line->loop || !line->app->out_terminal)
		return;
	loop_remove(line->loop, line->timer);
	line->timer = loop_add_timer(line->loop, QUIET_MS, show, line);
}

void open_line_hide(struct open_line *line)
{
	if (line->loop)
		loop_remove(line->loop, line->timer);
	line->timer = NULL;
	if (line->shown)
		app_write(line->app, ERASE, sizeof(ERASE) - 1);
	line->shown = false;
}
