/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/plot_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/view/screen.h"
#include "core/base/alloc.h"
#include "core/base/show.h"

#define MARGIN 10 /* columns for the numbers at the left */
#define ROWS_MIN 4
#define COLUMNS_MIN 10
#define AROUND 4 /* rows for title, axis, numbers and name */
#define POINTS 4000

static const char marks[] = "*+ox#@%&";
static const int colors[] = { 36, 33, 32, 35, 31, 34, 96, 93 };

/* A dot of Braille is one bit of a cell; an ASCII cell has a single dot. */
struct canvas {
	const struct plot_view *view;
	int columns, rows;   /* cells */
	int across, down;    /* dots in a cell */
	unsigned char *dots; /* of each cell */
	int *curve;          /* the last one drawn there, from 1 */
	double x0, x1, y0, y1;
	bool steps; /* x is the step, else seconds */
	struct metric_point *points;
};

static size_t read_curve(const struct canvas *canvas, size_t i)
{
	return metric_extremes_points(&canvas->view->curves[i].series->extremes,
				      POINTS, canvas->points);
}

static double x_of(const struct canvas *canvas, size_t curve, size_t k)
{
	const struct metric_point *at = &canvas->points[k];

	if (canvas->steps)
		return (double)at->step;
	return (double)(at->time_ms - canvas->view->curves[curve].from_ms) /
	       1000;
}

static bool all_have_steps(const struct canvas *canvas)
{
	for (size_t i = 0; i < canvas->view->count; i++) {
		size_t n = read_curve(canvas, i);

		for (size_t k = 0; k < n; k++)
			if (canvas->points[k].step < 0)
				return false;
	}
	return true;
}

static void find_span(struct canvas *canvas)
{
	bool any = false;

	canvas->steps = all_have_steps(canvas);
	for (size_t i = 0; i < canvas->view->count; i++) {
		size_t n = read_curve(canvas, i);

		for (size_t k = 0; k < n; k++) {
			double x = x_of(canvas, i, k);
			double y = canvas->points[k].value;

			canvas->x0 = any ? fmin(canvas->x0, x) : x;
			canvas->x1 = any ? fmax(canvas->x1, x) : x;
			canvas->y0 = any ? fmin(canvas->y0, y) : y;
			canvas->y1 = any ? fmax(canvas->y1, y) : y;
			any = true;
		}
	}
	if (canvas->x1 <= canvas->x0)
		canvas->x1 = canvas->x0 + 1;
	if (canvas->y1 <= canvas->y0) {
		canvas->y0 -= 0.5;
		canvas->y1 += 0.5;
	}
}

static void put_dot(struct canvas *canvas, int x, int y, size_t curve)
{
	static const unsigned char bits[4][2] = {
		{ 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 }
	};
	int cell = y / canvas->down * canvas->columns + x / canvas->across;

	/* With values beyond any number a place may be outside the canvas. */
	if (x < 0 || y < 0 || cell < 0 ||
	    cell >= canvas->columns * canvas->rows)
		return;
	canvas->dots[cell] |= bits[y % canvas->down][x % canvas->across];
	canvas->curve[cell] = (int)curve + 1;
}

static void put_line(struct canvas *canvas, const int from[2], const int to[2],
		     size_t curve)
{
	int dx = to[0] - from[0], dy = to[1] - from[1];
	int steps = abs(dx) > abs(dy) ? abs(dx) : abs(dy);

	for (int i = 0; i <= steps; i++)
		put_dot(canvas, from[0] + (steps ? dx * i / steps : 0),
			from[1] + (steps ? dy * i / steps : 0), curve);
}

static void put_curve(struct canvas *canvas, size_t curve)
{
	int wide = canvas->columns * canvas->across - 1;
	int high = canvas->rows * canvas->down - 1;
	size_t n = read_curve(canvas, curve);
	int last[2] = { 0, 0 };

	for (size_t k = 0; k < n; k++) {
		int at[2] = {
			(int)lround((x_of(canvas, curve, k) - canvas->x0) /
				    (canvas->x1 - canvas->x0) * wide),
			(int)lround((canvas->y1 - canvas->points[k].value) /
				    (canvas->y1 - canvas->y0) * high),
		};

		put_line(canvas, k ? last : at, at, curve);
		memcpy(last, at, sizeof(last));
	}
}

/* Writes text in the colour of a curve. */
static void put_colored(const struct canvas *canvas, size_t curve,
			const char *text, struct buf *out)
{
	if (canvas->view->color)
		buf_printf(out, "\033[%dm%s\033[0m",
			   colors[curve % COUNT(colors)], text);
	else
		buf_puts(out, text);
}

static void put_cell(const struct canvas *canvas, int cell, struct buf *out)
{
	size_t curve = (size_t)canvas->curve[cell];
	unsigned char dots = canvas->dots[cell];
	char text[4] = { 0 };

	if (!curve) {
		buf_putc(out, ' ');
		return;
	}
	if (canvas->across == 2) { /* U+2800 and its dots */
		text[0] = (char)0xe2;
		text[1] = (char)(0xa0 | dots >> 6);
		text[2] = (char)(0x80 | (dots & 0x3f));
	} else {
		text[0] = marks[(curve - 1) % (sizeof(marks) - 1)];
	}
	put_colored(canvas, curve - 1, text, out);
}

static void put_number(double value, char out[32])
{
	if (fabs(value) >= 100000 && fabs(value) < 1e9)
		snprintf(out, 32, "%.0f", value);
	else
		snprintf(out, 32, "%.4g", value);
}

/* Writes seconds as "1:02:03". */
static void put_x(const struct canvas *canvas, double x, char out[32])
{
	long s = lround(x);

	if (canvas->steps)
		put_number(x, out);
	else if (canvas->x1 < 10)
		snprintf(out, 32, "%.2gs", x);
	else if (s < 3600)
		snprintf(out, 32, "%ld:%02ld", s / 60, s % 60);
	else
		snprintf(out, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60,
			 s % 60);
}

static void put_rows(const struct canvas *canvas, struct buf *out)
{
	const char *bar = canvas->view->utf8 ? "│" : "|";
	int every = canvas->rows > 12 ? 4 : canvas->rows > 6 ? 3 : 2;

	for (int row = 0; row < canvas->rows; row++) {
		double share =
			canvas->rows > 1 ? (double)row / (canvas->rows - 1) : 0;
		char text[32] = "";

		if (row % every == 0 || row + 1 == canvas->rows)
			put_number(canvas->y1 -
					   share * (canvas->y1 - canvas->y0),
				   text);
		buf_printf(out, "%*.*s %s", MARGIN - 2, MARGIN - 2, text, bar);
		for (int i = 0; i < canvas->columns; i++)
			put_cell(canvas, row * canvas->columns + i, out);
		buf_putc(out, '\n');
	}
}

static void put_axis(const struct canvas *canvas, struct buf *out)
{
	char from[32], middle[32], to[32];
	int left, right;

	buf_fill(out, ' ', MARGIN - 1);
	buf_puts(out, canvas->view->utf8 ? "└" : "+");
	for (int i = 0; i < canvas->columns; i++)
		buf_puts(out, canvas->view->utf8 ? "─" : "-");
	put_x(canvas, canvas->x0, from);
	put_x(canvas,
	      canvas->steps ? floor((canvas->x0 + canvas->x1) / 2)
			    : (canvas->x0 + canvas->x1) / 2,
	      middle);
	put_x(canvas, canvas->x1, to);
	left = canvas->columns / 2 - (int)(strlen(from) + strlen(middle) / 2);
	right = canvas->columns - (int)(strlen(from) + strlen(middle)) -
		(left > 0 ? left : 0);
	buf_putc(out, '\n');
	buf_fill(out, ' ', MARGIN);
	if (left > 0 && right > (int)strlen(to))
		buf_printf(out, "%s%*s%s%*s\n", from, left, "", middle, right,
			   to);
	else
		buf_printf(out, "%s%*s\n", from,
			   canvas->columns - (int)strlen(from), to);
}

static void put_legend(const struct canvas *canvas, size_t curve,
		       struct buf *out)
{
	const struct plot_curve *it = &canvas->view->curves[curve];
	char mark[4] = { marks[curve % (sizeof(marks) - 1)], 0 };
	char value[32];
	struct buf line = { 0 };

	put_number(it->series->last.value, value);
	put_colored(canvas, curve, canvas->across == 2 ? "━━" : mark, &line);
	buf_puts(&line, " ");
	show_text(&line, it->label);
	buf_printf(&line, ": last %s", value);
	put_number(it->series->least.value, value);
	buf_printf(&line, ", least %s", value);
	put_number(it->series->greatest.value, value);
	buf_printf(&line, ", greatest %s", value);
	screen_cut(buf_text(&line), line.len, canvas->view->width, out);
	buf_putc(out, '\n');
	buf_done(&line);
}

void plot_text(const struct plot_view *view, struct buf *out)
{
	/* Without colours dots do not distinguish curves, so use marks. */
	bool dots = view->utf8 && (view->color || view->count == 1);
	size_t room = (size_t)view->height / 4, legend = view->count;
	struct canvas canvas = { .view = view,
				 .across = dots ? 2 : 1,
				 .down = dots ? 4 : 1,
				 .columns = view->width - MARGIN };
	size_t cells;

	room = room ? room : 1;
	if (legend > room)
		legend = room - 1;
	canvas.rows =
		view->height - AROUND - (int)legend - (legend < view->count);
	canvas.rows = canvas.rows < ROWS_MIN ? ROWS_MIN : canvas.rows;
	if (canvas.columns < COLUMNS_MIN)
		canvas.columns = COLUMNS_MIN;
	cells = (size_t)canvas.columns * (size_t)canvas.rows;
	canvas.dots = mem_alloc(cells);
	canvas.curve = mem_alloc(cells * sizeof(*canvas.curve));
	canvas.points = mem_alloc(POINTS * sizeof(*canvas.points));
	find_span(&canvas);
	for (size_t i = 0; i < view->count; i++)
		put_curve(&canvas, i);
	show_text(out, view->name);
	buf_printf(out, " over %s\n",
		   canvas.steps ? "steps" : "the time since the start");
	put_rows(&canvas, out);
	put_axis(&canvas, out);
	for (size_t i = 0; i < legend; i++)
		put_legend(&canvas, i, out);
	if (legend < view->count)
		buf_printf(out, "and %zu more\n", view->count - legend);
	free(canvas.dots);
	free(canvas.curve);
	free(canvas.points);
}
