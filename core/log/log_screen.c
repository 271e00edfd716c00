/* SPDX-License-Identifier: Apache-2.0 */
#include "core/log/log_screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/show.h"
#include "core/base/text.h"
#include "core/log/log.h"

#define ROWS_MAX 24
#define ESCAPE_MAX 48  /* a longer sequence is shown as text */
#define STYLES_MAX 256 /* further styles are shown plain */
#define CELL_TEXT 6
#define RESET "\033[0m"

/* A column.  A wide character also takes the next cell, which is empty. */
struct cell {
	char text[CELL_TEXT];
	uint8_t len;
	uint8_t style; /* its index in `styles` */
};

struct screen_row {
	struct cell *cells;
	size_t len;
	size_t room;
	int64_t time_ms; /* of its first character */
	bool cut;        /* it continues a piece that is done */
};

struct log_screen {
	bool color;
	struct screen_row rows[ROWS_MAX];
	size_t count; /* at least 1 */
	size_t keep;  /* how many rows above the last are kept open */
	size_t y, x;
	char *styles[STYLES_MAX]; /* escape sequences; [0] is plain */
	size_t style_count;
	uint8_t style; /* of the next character */
	char escape[ESCAPE_MAX];
	/* the length of an incomplete sequence or character */
	size_t escape_len;
	int64_t now_ms;
	log_row_sink *sink; /* during a call */
	void *arg;
};

struct log_screen *log_screen_new(bool color)
{
	struct log_screen *screen = mem_alloc(sizeof(*screen));

	screen->color = color;
	screen->count = 1;
	screen->style_count = 1;
	return screen;
}

struct log_screen *log_screen_copy(const struct log_screen *screen)
{
	struct log_screen *copy = mem_alloc(sizeof(*copy));

	*copy = *screen;
	for (size_t i = 0; i < copy->count; i++) {
		struct screen_row *row = &copy->rows[i];

		row->room = row->len;
		row->cells = NULL;
		if (row->len) {
			row->cells =
				mem_grow(NULL, row->len, sizeof(struct cell));
			memcpy(row->cells, screen->rows[i].cells,
			       row->len * sizeof(struct cell));
		}
	}
	for (size_t i = 1; i < copy->style_count; i++)
		copy->styles[i] = mem_strdup(screen->styles[i]);
	return copy;
}

static void forget_styles(struct log_screen *screen)
{
	while (screen->style_count > 1)
		free(screen->styles[--screen->style_count]);
	screen->style = 0;
}

void log_screen_free(struct log_screen *screen)
{
	if (!screen)
		return;
	for (size_t i = 0; i < screen->count; i++)
		free(screen->rows[i].cells);
	forget_styles(screen);
	free(screen);
}

/* ---- rows as text ------------------------------------------------------ */

static void change_style(const struct log_screen *screen, uint8_t from,
			 uint8_t to, struct buf *out)
{
	if (from == to || !screen->color)
		return;
	if (from)
		buf_puts(out, RESET);
	if (to)
		buf_puts(out, screen->styles[to]);
}

static void give_row(const struct log_screen *screen,
		     const struct screen_row *row, bool more, size_t width,
		     log_row_sink *sink, void *arg)
{
	struct buf text = { 0 };
	size_t len = row->len;
	uint8_t style = 0;

	/* Ignore blanks that cleared something. */
	while (len && row->cells[len - 1].text[0] == ' ' &&
	       !row->cells[len - 1].style && !more)
		len--;
	if (row->cut)
		buf_puts(&text, LOG_LINE_CUT);
	for (size_t i = 0; i < len && (!width || i < width); i++) {
		const struct cell *cell = &row->cells[i];

		/* Do not cut a wide character in half. */
		if (width && i + 1 == width && i + 1 < len && !cell[1].len)
			break;
		change_style(screen, style, cell->style, &text);
		style = cell->style;
		if (width && cell->text[0] == '\t')
			buf_putc(&text, ' ');
		else
			buf_add(&text, cell->text, cell->len);
	}
	change_style(screen, style, 0, &text);
	if (more)
		buf_puts(&text, LOG_LINE_CUT);
	sink(arg, buf_text(&text), text.len, row->time_ms);
	buf_done(&text);
}

static void release(struct log_screen *screen)
{
	give_row(screen, &screen->rows[0], false, 0, screen->sink, screen->arg);
	free(screen->rows[0].cells);
	memmove(screen->rows, screen->rows + 1,
		--screen->count * sizeof(screen->rows[0]));
	screen->y--;
}

/* Releases the start of a row that has become too long. */
static void release_piece(struct log_screen *screen, struct screen_row *row)
{
	give_row(screen, row, true, 0, screen->sink, screen->arg);
	row->len = 0;
	row->cut = true;
	row->time_ms = screen->now_ms;
	screen->x = 0;
}

void log_screen_look(const struct log_screen *screen, size_t width,
		     log_row_sink *sink, void *arg)
{
	size_t count = screen->count;

	while (count && !screen->rows[count - 1].len)
		count--;
	for (size_t i = 0; i < count; i++)
		give_row(screen, &screen->rows[i], false, width, sink, arg);
}

void log_screen_end(struct log_screen *screen, log_row_sink *sink, void *arg)
{
	log_screen_look(screen, 0, sink, arg);
	for (size_t i = 0; i < screen->count; i++)
		free(screen->rows[i].cells);
	memset(screen->rows, 0, sizeof(screen->rows));
	screen->count = 1;
	screen->x = screen->y = screen->keep = screen->escape_len = 0;
	forget_styles(screen);
}

bool log_screen_is_blank(const struct log_screen *screen)
{
	return screen->count == 1 && !screen->rows[0].len && !screen->x &&
	       !screen->rows[0].cut && !screen->style && !screen->keep &&
	       !screen->escape_len;
}

/* ---- what is put ------------------------------------------------------- */

/* The width of a UTF-8 character: zero, one or two columns. */
static int columns(const unsigned char *p, size_t len)
{
	static const struct {
		unsigned from, to;
		int columns;
	} ranges[] = {
		{ 0x300, 0x36f, 0 },     { 0x200b, 0x200d, 0 },
		{ 0xfe00, 0xfe0f, 0 },   { 0x1100, 0x115f, 2 },
		{ 0x231a, 0x231b, 2 },   { 0x23e9, 0x23ec, 2 },
		{ 0x2705, 0x2705, 2 },   { 0x2728, 0x2728, 2 },
		{ 0x274c, 0x274c, 2 },   { 0x2b50, 0x2b50, 2 },
		{ 0x2e80, 0xa4cf, 2 },   { 0xac00, 0xd7a3, 2 },
		{ 0xf900, 0xfaff, 2 },   { 0xfe30, 0xfe6f, 2 },
		{ 0xff00, 0xff60, 2 },   { 0xffe0, 0xffe6, 2 },
		{ 0x1f300, 0x1faff, 2 }, { 0x20000, 0x3fffd, 2 },
	};
	unsigned point;

	if (len < 2)
		return 1;
	point = p[0] & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++)
		point = point << 6 | (p[i] & 0x3fu);
	for (size_t i = 0; i < COUNT(ranges); i++)
		if (point >= ranges[i].from && point <= ranges[i].to)
			return ranges[i].columns;
	return 1;
}

static void put_cell(struct log_screen *screen, const char *text, size_t len)
{
	static const struct cell blank = { .text = " ", .len = 1 };
	struct screen_row *row = &screen->rows[screen->y];

	if (screen->x >= LOG_LINE_MAX)
		release_piece(screen, row);
	if (screen->x >= row->room) {
		row->room = screen->x < 40 ? 80 : 2 * screen->x;
		row->cells =
			mem_grow(row->cells, row->room, sizeof(*row->cells));
	}
	if (!row->len && !row->cut)
		row->time_ms = screen->now_ms;
	while (row->len < screen->x)
		row->cells[row->len++] = blank;
	row->cells[screen->x] =
		(struct cell){ .len = (uint8_t)len, .style = screen->style };
	memcpy(row->cells[screen->x].text, text, len);
	if (++screen->x > row->len)
		row->len = screen->x;
}

static void put_char(struct log_screen *screen, const char *text, size_t len)
{
	struct screen_row *row = &screen->rows[screen->y];
	int n = columns((const unsigned char *)text, len);

	if (n) {
		put_cell(screen, text, len);
		if (n > 1)
			put_cell(screen, "", 0);
	} else if (screen->x && screen->x <= row->len) {
		struct cell *cell = &row->cells[screen->x - 1];

		if (cell->len && cell->len + len <= CELL_TEXT) {
			memcpy(cell->text + cell->len, text, len);
			cell->len = (uint8_t)(cell->len + len);
		}
	}
}

/* Shows what a terminal must not obey. */
static void put_visible(struct log_screen *screen, const char *text, size_t len)
{
	struct buf shown = { 0 };

	for (size_t i = 0; i < len; i++) {
		char one[2] = { text[i] };

		if (!text[i] || (unsigned char)text[i] >= 0x80)
			buf_printf(&shown, "\\x%02x", (unsigned char)text[i]);
		else
			show_text(&shown, one);
	}
	for (size_t i = 0; i < shown.len; i++)
		put_cell(screen, shown.data + i, 1);
	buf_done(&shown);
}

static void new_line(struct log_screen *screen)
{
	screen->x = 0;
	if (screen->y + 1 < screen->count) {
		screen->y++;
		return;
	}
	if (screen->count == ROWS_MAX)
		release(screen);
	screen->rows[screen->count] =
		(struct screen_row){ .time_ms = screen->now_ms };
	screen->y = screen->count++;
	while (screen->count > screen->keep + 1)
		release(screen);
	if (log_screen_is_blank(screen))
		forget_styles(screen);
}

/* Finished rows are not reopened: they stay above, and the task draws on new
 * ones. */
static void move_up(struct log_screen *screen, size_t n)
{
	size_t below;

	while (n--) {
		if (screen->y) {
			screen->y--;
		} else if (screen->count < ROWS_MAX) {
			memmove(screen->rows + 1, screen->rows,
				screen->count++ * sizeof(screen->rows[0]));
			screen->rows[0] =
				(struct screen_row){ .time_ms =
							     screen->now_ms };
		}
	}
	below = screen->count - 1 - screen->y;
	if (below > screen->keep)
		screen->keep = below;
}

static void erase(struct log_screen *screen, unsigned how)
{
	struct screen_row *row = &screen->rows[screen->y];
	size_t x = screen->x;

	if (how == 0 && row->len > x) {
		row->len = x;
	} else if (how == 2) {
		row->len = 0;
	} else if (how == 1) {
		screen->x = 0;
		while (screen->x <= x && screen->x < row->len)
			put_cell(screen, " ", 1);
		screen->x = x;
	}
}

/* Sequences of a style accumulate: each adds to those before. */
static void set_style(struct log_screen *screen, const char *sequence,
		      size_t len)
{
	struct buf all = { 0 };
	size_t i = 1;

	screen->style = screen->color ? screen->style : 0;
	/* "\033[m", "\033[0m", "\033[0;31m" */
	if (sequence[2] == 'm' ||
	    (sequence[2] == '0' && (sequence[3] == 'm' || sequence[3] == ';')))
		screen->style = 0;
	if (!screen->color || len <= 3 || (len == 4 && sequence[2] == '0'))
		return;
	if (screen->style && strlen(screen->styles[screen->style]) < ESCAPE_MAX)
		buf_puts(&all, screen->styles[screen->style]);
	buf_add(&all, sequence, len);
	while (i < screen->style_count &&
	       strcmp(screen->styles[i], all.data) != 0)
		i++;
	if (i == STYLES_MAX)
		i = 0;
	else if (i == screen->style_count)
		screen->styles[screen->style_count++] = mem_strdup(all.data);
	screen->style = (uint8_t)i;
	buf_done(&all);
}

/* Returns false if the sequence is not a movement. */
static bool move(struct log_screen *screen, char how, size_t n)
{
	switch (how) {
	case 'A':
	case 'F':
		move_up(screen, n < ROWS_MAX ? n : ROWS_MAX);
		break;
	case 'B':
	case 'E':
		while (n-- && screen->y + 1 < screen->count)
			screen->y++;
		break;
	case 'C':
		screen->x += n;
		break;
	case 'D':
		screen->x -= n < screen->x ? n : screen->x;
		break;
	case 'G':
		screen->x = n - 1;
		break;
	default:
		return false;
	}
	if (how == 'E' || how == 'F')
		screen->x = 0;
	if (screen->x > LOG_LINE_MAX)
		screen->x = LOG_LINE_MAX;
	return true;
}

/* Obeys a complete sequence "\033[…X"; false if it is not a supported one. */
static bool obey(struct log_screen *screen, const char *sequence, size_t len)
{
	const char *p = sequence + 2;
	char last = sequence[len - 1];
	size_t digits = strspn(p, "0123456789");
	unsigned given = digits ? (unsigned)strtoul(p, NULL, 10) : 0;
	size_t n = given ? given : 1;

	if (last == 'm' && strspn(p, "0123456789;:") == len - 3) {
		set_style(screen, sequence, len);
		return true;
	}
	/* Ignored: the cursor is not ours to hide. */
	if (!strcmp(p, "?25l") || !strcmp(p, "?25h"))
		return true;
	if (digits != len - 3 || given > LOG_LINE_MAX)
		return false;
	if (move(screen, last, n))
		return true;
	switch (last) {
	case 'J':
		if (given)
			return false;
		for (size_t y = screen->y + 1; y < screen->count; y++)
			screen->rows[y].len = 0;
		erase(screen, 0);
		break;
	case 'K':
		erase(screen, given);
		break;
	default:
		return false;
	}
	return true;
}

/* The length of the sequence or character at the start of `text`; 0:
 * incomplete. */
static size_t unit_length(const char *text, size_t len)
{
	unsigned char c = (unsigned char)text[0];
	size_t n;

	if (c == '\033') {
		if (len < 2)
			return 0;
		if (text[1] != '[')
			return 1;
		for (n = 2; n < len && n < ESCAPE_MAX - 1; n++) {
			c = (unsigned char)text[n];
			if (c >= 0x40 && c <= 0x7e)
				return n + 1;
			if (c < 0x20 || c > 0x7e)
				return 1;
		}
		return n < ESCAPE_MAX - 1 ? 0 : 1;
	}
	if (c < 0xc2 || c > 0xf4)
		return 1;
	n = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	for (size_t i = 1; i < n; i++) {
		if (i == len)
			return 0;
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return i; /* not a sequence */
	}
	return n;
}

/* Shows a byte or character that is not part of a sequence. */
static void put_unit(struct log_screen *screen, const char *text, size_t len)
{
	char whole[8] = { 0 };
	struct buf shown = { 0 };

	memcpy(whole, text, len);
	if (text[0] == '\n') {
		new_line(screen);
	} else if (text[0] == '\r') {
		screen->x = 0;
	} else if (text[0] == '\b') {
		screen->x -= screen->x > 0;
	} else if (text[0] == '\t') {
		put_cell(screen, text, 1);
	} else if (len == 1 || text_utf8_len(whole) != len) {
		if ((unsigned char)text[0] >= ' ' && text[0] != 0x7f &&
		    (unsigned char)text[0] < 0x80)
			put_cell(screen, text, 1);
		else
			put_visible(screen, text, len);
	} else {
		/* Escapes marks that change the direction of text. */
		show_text(&shown, whole);
		if (strcmp(shown.data, whole) != 0)
			for (size_t i = 0; i < shown.len; i++)
				put_cell(screen, shown.data + i, 1);
		else
			put_char(screen, text, len);
		buf_done(&shown);
	}
}

/* Returns the number of bytes handled. */
static size_t put_one(struct log_screen *screen, const char *text, size_t len)
{
	char sequence[ESCAPE_MAX];
	size_t n = unit_length(text, len);

	if (!n)
		return 0;
	if (text[0] != '\033' || n == 1) {
		put_unit(screen, text, n);
		return n;
	}
	memcpy(sequence, text, n);
	sequence[n] = '\0';
	if (obey(screen, sequence, n))
		return n;
	put_visible(screen, text, 1);
	return 1;
}

void log_screen_put(struct log_screen *screen, const char *text, size_t len,
		    int64_t time_ms, log_row_sink *sink, void *arg)
{
	struct screen_row *row = &screen->rows[screen->y];
	size_t used;

	if (!row->len && !row->cut)
		row->time_ms = time_ms;
	screen->sink = sink;
	screen->arg = arg;
	screen->now_ms = time_ms;
	/* First complete what an earlier call has left. */
	while (len && screen->escape_len) {
		screen->escape[screen->escape_len++] = *text++;
		len--;
		used = put_one(screen, screen->escape, screen->escape_len);
		if (used > 0 && used < screen->escape_len) {
			/* Its first byte was shown as text; handle the rest
			 * again. */
			char rest[ESCAPE_MAX];
			size_t n = screen->escape_len - used;

			memcpy(rest, screen->escape + used, n);
			screen->escape_len = 0;
			log_screen_put(screen, rest, n, time_ms, sink, arg);
		} else if (used) {
			screen->escape_len = 0;
		}
	}
	while (len) {
		used = put_one(screen, text, len);
		if (!used) {
			memcpy(screen->escape, text, len);
			screen->escape_len = len;
			return;
		}
		text += used;
		len -= used;
	}
}

/* ---- whole texts ------------------------------------------------------- */

/* Whether the text has a sequence that moves or erases; all others can be shown
 * later, too. */
static bool rewrites(const char *text, size_t len)
{
	size_t n = 2;

	if (len < 3 || text[1] != '[')
		return false;
	while (n < len &&
	       ((text[n] >= '0' && text[n] <= '9') || text[n] == ';'))
		n++;
	return n < len && text[n] && strchr("ABCDEFGJK", text[n]);
}

bool log_screen_is_needed(const char *text, size_t len, bool strict)
{
	const char *end = text + len;

	if (!strict) {
		if (memchr(text, '\r', len) || memchr(text, '\b', len))
			return true;
		for (const char *p = text;
		     (p = memchr(p, '\033', (size_t)(end - p))); p++)
			if (rewrites(p, (size_t)(end - p)))
				return true;
		return false;
	}
	for (const char *p = text; p < end; p++) {
		unsigned char c = (unsigned char)*p;

		if ((c < ' ' && c != '\t') || c >= 0x7f)
			return true;
	}
	return false;
}

static void add_row(void *arg, const char *text, size_t len, int64_t time_ms)
{
	struct buf *out = arg;

	(void)time_ms;
	buf_add(out, text, len);
	buf_putc(out, '\n');
}

void log_screen_text(const char *text, size_t len, struct buf *out)
{
	struct log_screen *screen = log_screen_new(false);

	log_screen_put(screen, text, len, 0, add_row, out);
	log_screen_end(screen, add_row, out);
	log_screen_free(screen);
}
