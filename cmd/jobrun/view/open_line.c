/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/open_line.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/view/metrics_view.h"
#include "core/base/alloc.h"
#include "core/base/clock.h"

#define DRAW_MS 100
#define PRINT_MS 30000

struct open_lines {
	struct app *app;
	struct loop *loop;
	struct log_reader *reader;
	struct log_printer *printer;
	const struct metric_table *metrics; /* or NULL */
	struct loop_event *timer;
	int64_t drawn_ms;
	int64_t before_ms;  /* later lines are not printed yet */
	struct buf text;    /* under construction */
	struct buf printed; /* last printed or passed over */
};

static void add_stream(void *arg, const struct log_line *open)
{
	struct open_lines *lines = arg;

	/* A line in the last column would make the terminal go to the next
	 * row. */
	log_printer_look(lines->printer, open, (size_t)lines->app->width - 1,
			 INT64_MAX, &lines->text);
}

static void draw(struct open_lines *lines)
{
	struct buf *text = &lines->text;

	buf_clear(text);
	log_reader_open_lines(lines->reader, add_stream, lines);
	if (lines->metrics)
		metrics_line(lines->metrics, lines->app->width, text);
	if (text->len && text->data[text->len - 1] == '\n')
		text->data[--text->len] = '\0';
	app_stand(lines->app, lines, buf_text(text));
	lines->drawn_ms = time_monotonic_ms();
}

static void on_draw(void *arg, uint32_t events)
{
	struct open_lines *lines = arg;

	(void)events;
	lines->timer = NULL;
	draw(lines);
}

static void print_stream(void *arg, const struct log_line *open)
{
	struct open_lines *lines = arg;
	struct buf one = { 0 };

	log_printer_look(lines->printer, open, 0, lines->before_ms, &one);
	buf_add(&lines->text, buf_text(&one), one.len);
	if (one.len && !strstr(buf_text(&lines->printed), one.data))
		app_print(lines->app, &one);
	buf_done(&one);
}

static void on_print(void *arg, uint32_t events)
{
	struct open_lines *lines = arg;
	struct buf last = lines->printed;

	(void)events;
	lines->timer = loop_add_timer(lines->loop, PRINT_MS, on_print, lines);
	lines->before_ms = time_now_ms() - PRINT_MS;
	buf_clear(&lines->text);
	log_reader_open_lines(lines->reader, print_stream, lines);
	lines->printed = lines->text;
	lines->text = last;
}

struct open_lines *open_lines_new(struct app *app, struct loop *loop,
				  struct log_reader *reader,
				  struct log_printer *printer)
{
	struct open_lines *lines = mem_alloc(sizeof(*lines));

	*lines = (struct open_lines){
		.app = app, .loop = loop, .reader = reader, .printer = printer
	};
	if (!app->live)
		lines->timer = loop_add_timer(loop, PRINT_MS, on_print, lines);
	return lines;
}

void open_lines_free(struct open_lines *lines)
{
	if (!lines)
		return;
	loop_remove(lines->loop, lines->timer);
	app_stand(lines->app, lines, "");
	buf_done(&lines->text);
	buf_done(&lines->printed);
	free(lines);
}

void open_lines_add_metrics(struct open_lines *lines,
			    const struct metric_table *metrics)
{
	lines->metrics = metrics;
}

void open_lines_changed(struct open_lines *lines)
{
	int64_t wait_ms = lines->drawn_ms + DRAW_MS - time_monotonic_ms();

	if (!lines->app->live || lines->timer)
		return;
	if (wait_ms <= 0)
		draw(lines);
	else
		lines->timer =
			loop_add_timer(lines->loop, wait_ms, on_draw, lines);
}
