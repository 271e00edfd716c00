/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/follow.h"

#include <stdlib.h>
#include <sys/epoll.h>

#include "cmd/metrics_view.h"
#include "core/run/spec.h"

/* Printed in pieces of about this size. */
#define PIECE (256 << 10)

struct follow {
	struct app *app;
	struct arena *mem;
	struct log_source *sources;
	size_t count;
	struct log_reader *reader;
	struct log_printer *printer;
	struct loop *loop;
	struct loop_event *event;
	struct buf text;
	/* The line that stands under the output, on a terminal. */
	struct run_spec spec;
	struct metric_parser *parser;
	struct metric_table *metrics; /* NULL: none is shown */
};

struct follow *follow_open(struct session *session, const char *job_id,
			   int attempt, const struct source_choice *tasks,
			   const struct log_filter *filter, struct error *err)
{
	struct follow *follow = mem_alloc(sizeof(*follow));
	char *folder = store_run_folder(session->env.store, job_id, attempt);

	follow->app = session->app;
	follow->mem = arena_new();
	follow->printer = log_printer_new(session->app->out_color);
	if (spec_read(folder, follow->mem, &follow->spec, err) < 0 ||
	    sources_choose(&follow->spec, tasks, follow->mem,
			   &follow->sources, &follow->count, err) < 0)
		goto fail;
	follow->reader = log_reader_open(folder, follow->sources, follow->count,
					 filter, err);
	if (!follow->reader)
		goto fail;
	free(folder);
	return follow;
fail:
	free(folder);
	follow_close(follow);
	return NULL;
}

void follow_close(struct follow *follow)
{
	if (!follow)
		return;
	follow_stop(follow);
	metric_table_free(follow->metrics);
	metric_parser_free(follow->parser);
	log_reader_close(follow->reader);
	log_printer_free(follow->printer);
	buf_done(&follow->text);
	arena_free(follow->mem);
	free(follow);
}

static void flush(struct follow *follow)
{
	app_print(follow->app, &follow->text);
	buf_clear(&follow->text);
}

static void print_line(void *arg, const struct log_line *line)
{
	struct follow *follow = arg;

	log_printer_add(follow->printer, line, &follow->text);
	if (follow->metrics)
		metric_table_line(follow->metrics, line, NULL, NULL);
	if (follow->text.len >= PIECE)
		flush(follow);
	/* Nobody reads it any more. */
	if (follow->app->out_closed || follow->app->out_errno)
		log_reader_stop(follow->reader);
}

/* What the metrics are now, under the lines. */
static void stand(struct follow *follow)
{
	struct buf line = { 0 };

	metrics_line(follow->metrics, follow->app->width, &line);
	app_stand(follow->app, buf_text(&line));
	buf_done(&line);
}

/* Where it can't be had, it is not shown. */
static void start_metrics(struct follow *follow)
{
	struct error ignored;

	if (!follow->app->live || follow->metrics)
		return;
	follow->parser = metric_parser_new(&follow->spec.metrics, &ignored);
	if (follow->parser)
		follow->metrics = metric_table_new(
			follow->sources, follow->count, follow->parser);
}

int follow_step(struct follow *follow, bool ended, struct error *err)
{
	int ret = log_reader_step(follow->reader, ended, print_line, follow,
				  err);

	flush(follow);
	if (follow->metrics && !ended)
		stand(follow);
	return ret;
}

static void on_change(void *arg, uint32_t events)
{
	struct follow *follow = arg;
	struct error err;

	(void)events;
	if (follow_step(follow, false, &err) < 0) {
		app_fail(follow->app, &err);
		loop_remove(follow->loop, follow->event);
		follow->event = NULL;
	}
}

int follow_start(struct follow *follow, struct loop *loop, struct error *err)
{
	int fd = log_reader_watch(follow->reader, err);

	if (fd < 0)
		return -1;
	follow->loop = loop;
	start_metrics(follow);
	follow->event = loop_add_fd(loop, fd, EPOLLIN, on_change, follow, err);
	if (!follow->event)
		return -1;
	return follow_step(follow, false, err);
}

void follow_stop(struct follow *follow)
{
	if (follow->loop)
		loop_remove(follow->loop, follow->event);
	follow->loop = NULL;
	follow->event = NULL;
	if (follow->metrics)
		app_stand(follow->app, "");
}
