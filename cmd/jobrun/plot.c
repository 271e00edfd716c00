/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/interrupt.h"
#include "cmd/jobrun/view/plot_view.h"
#include "cmd/jobrun/view/run_story.h"
#include "cmd/jobrun/view/screen.h"
#include "core/base/loop.h"

#define TICK_MS 1000

struct plot_opts {
	bool follow;
};

static const struct opt options[] = {
	{ 'f', "follow", OPT_FLAG, offsetof(struct plot_opts, follow), NULL,
	  "redraw until the runs end" },
	{ 0 },
};

struct plotting {
	struct app *app;
	struct session *session;
	char **names;
	size_t count;
	const char *metric; /* NULL: the first one */
	struct arena *mem;
	struct run_story *stories;
	struct loop *loop;
	struct screen *screen;
	int status;
	/* The contents of one drawing. */
	struct plot_curve *curves;
	size_t curve_count;
	const struct metric_info *info;
	struct buf others; /* metrics not drawn */
};

static void close_stories(struct plotting *plot)
{
	for (size_t i = 0; plot->stories && i < plot->count; i++)
		run_story_done(&plot->stories[i]);
	arena_free(plot->mem);
	plot->mem = NULL;
	plot->stories = NULL;
}

static int open_stories(struct plotting *plot, struct error *err)
{
	close_stories(plot);
	plot->mem = arena_new();
	plot->stories =
		arena_alloc(plot->mem, plot->count * sizeof(*plot->stories));
	for (size_t i = 0; i < plot->count; i++)
		if (run_story_read(plot->session, plot->names[i], plot->mem,
				   &plot->stories[i], err) < 0)
			return -1;
	return 0;
}

/* Returns a new label, just long enough to distinguish the curves. */
static char *label_of(const struct plotting *plot,
		      const struct run_story *story,
		      const struct story_part *part,
		      const struct log_source *source)
{
	struct buf out = { 0 };

	if (plot->count > 1)
		buf_printf(&out, "%s ", run_story_name(story, plot->mem));
	if (part->trial)
		buf_printf(&out, "trial %d", part->trial->number);
	if (!part->trial || part->metrics.source_count > 1)
		buf_printf(&out, "%s%s %d", part->trial ? " " : "",
			   source->type, source->index);
	if (!part->trial && story->attempt_count > 1)
		buf_printf(&out, " attempt %d", part->run->attempt);
	return buf_take(&out);
}

static void add_curves(struct plotting *plot, const struct run_story *story,
		       const struct story_part *part, size_t metric)
{
	for (size_t k = 0; k < part->metrics.source_count; k++) {
		const struct metric_series *series =
			metric_table_series(part->metrics.table, metric, k);
		size_t n = plot->curve_count;

		if (!series || !series->extremes.count)
			continue;
		plot->curves =
			mem_grow(plot->curves, n + 1, sizeof(*plot->curves));
		plot->curves[n] = (struct plot_curve){
			.label = label_of(plot, story, part, series->source),
			.series = series,
			.from_ms = part->trial ? part->trial->start_time_ms
					       : part->run->start_time_ms,
		};
		plot->curve_count++;
	}
}

static void add_part(struct plotting *plot, const struct run_story *story,
		     const struct story_part *part)
{
	const struct metric_table *table = part->metrics.table;

	for (size_t i = 0; i < metric_table_count(table); i++) {
		const struct metric_info *info = metric_table_info(table, i);

		if (!plot->info &&
		    (!plot->metric || !strcasecmp(plot->metric, info->name)))
			plot->info = info;
		if (plot->info && !strcasecmp(plot->info->name, info->name))
			add_curves(plot, story, part, i);
		else if (!strstr(buf_text(&plot->others), info->name))
			buf_printf(&plot->others, "%s%s",
				   plot->others.len ? ", " : "", info->name);
	}
}

static void free_curves(struct plotting *plot)
{
	for (size_t i = 0; i < plot->curve_count; i++)
		free(plot->curves[i].label);
	free(plot->curves);
	buf_done(&plot->others);
	plot->curves = NULL;
	plot->curve_count = 0;
	plot->info = NULL;
}

/* Draws; returns whether there was something to draw. */
static bool draw(struct plotting *plot, struct buf *out)
{
	struct plot_view view = {
		.width = plot->app->width,
		.height = plot->app->height - 1,
		.utf8 = screen_is_utf8(),
		.color = plot->app->out_color,
	};
	bool any;

	free_curves(plot);
	for (size_t i = 0; i < plot->count; i++)
		for (size_t k = 0; k < plot->stories[i].part_count; k++)
			if (plot->stories[i].parts[k].read)
				add_part(plot, &plot->stories[i],
					 &plot->stories[i].parts[k]);
	any = plot->curve_count;
	view.curves = plot->curves;
	view.count = plot->curve_count;
	if (any) {
		view.name = plot->info->name;
		plot_text(&view, out);
	} else {
		buf_puts(out, "nothing to draw yet\n");
	}
	return any;
}

/* ---- following --------------------------------------------------------- */

/* Reads what is new; sets `going` if any run has not ended. */
static int step(struct plotting *plot, bool *going, struct error *err)
{
	bool again = false;

	*going = false;
	for (size_t i = 0; i < plot->count; i++) {
		struct run_story *story = &plot->stories[i];
		struct run_record now = *story->run;

		if (run_state_is_final(now.state))
			continue;
		*going = true;
		if (session_run(plot->session, now.job_id, 0, plot->mem, &now,
				err) < 0)
			return -1;
		again = again || story->tuning ||
			now.attempt != story->run->attempt ||
			now.state != story->run->state;
		for (size_t k = 0; k < story->part_count; k++)
			if (story->parts[k].read &&
			    run_metrics_step(&story->parts[k].metrics, false,
					     err) < 0)
				return -1;
	}
	return again ? open_stories(plot, err) : 0;
}

static void redraw(void *arg, uint32_t events)
{
	struct plotting *plot = arg;
	struct buf text = { 0 };

	(void)events;
	draw(plot, &text);
	screen_show(plot->screen, &text);
	buf_done(&text);
}

static void on_tick(void *arg, uint32_t events)
{
	struct plotting *plot = arg;
	struct error err;
	bool going;

	(void)events;
	if (step(plot, &going, &err) < 0) {
		plot->status = app_fail(plot->app, &err);
		loop_stop(plot->loop);
		return;
	}
	if (plot->screen)
		redraw(plot, 0);
	if (going && !plot->app->out_closed)
		loop_add_timer(plot->loop, TICK_MS, on_tick, plot);
	else
		loop_stop(plot->loop);
}

static void on_quit(void *arg, uint32_t events)
{
	struct plotting *plot = arg;

	(void)events;
	loop_stop(plot->loop);
}

static void on_interrupt(void *arg, uint32_t number)
{
	struct plotting *plot = arg;

	(void)number;
	plot->status = ERROR_INTERRUPTED;
	loop_stop(plot->loop);
}

static int follow(struct plotting *plot, struct error *err)
{
	struct interrupt *interrupt = NULL;
	int ret = -1;

	plot->loop = loop_new(err);
	if (!plot->loop)
		return -1;
	interrupt = interrupt_new(plot->loop, 0, on_interrupt, plot, err);
	if (!interrupt)
		goto out;
	if (screen_is_possible(plot->app)) {
		plot->screen = screen_open(plot->app, plot->loop, redraw,
					   on_quit, plot, err);
		if (!plot->screen)
			goto out;
	}
	loop_add_timer(plot->loop, 0, on_tick, plot);
	ret = loop_run(plot->loop, err);
out:
	screen_close(plot->screen, false);
	interrupt_free(interrupt);
	loop_free(plot->loop);
	return ret;
}

/* ---- the command ------------------------------------------------------- */

/* Takes the last argument as a metric if it is no run. */
static void take_metric(struct plotting *plot)
{
	struct arena *mem = arena_new();
	const char *last = plot->names[plot->count - 1];
	struct run_record run;
	struct error ignored;

	if (plot->count > 1 && !strpbrk(last, "./") &&
	    store_run_get(plot->session->env.store, last, 0, mem, &run,
			  &ignored) == 1) {
		plot->metric = last;
		plot->count--;
	}
	arena_free(mem);
}

static int show(struct plotting *plot, struct error *err)
{
	struct buf text = { 0 };
	bool any = draw(plot, &text);

	if (any) {
		app_print(plot->app, &text);
		if (!plot->metric && plot->others.len)
			app_say(plot->app, "not drawn: %s",
				buf_text(&plot->others));
	}
	buf_done(&text);
	if (any)
		return 0;
	if (plot->metric)
		return error_set(err, ERROR_FAILED, "no metric '%s'%s%s",
				 plot->metric,
				 plot->others.len ? ": there are " : "",
				 buf_text(&plot->others));
	return error_set(err, ERROR_FAILED,
			 "no metrics in the tasks' output: see 'man "
			 "jobrun-metrics'");
}

static int run(struct app *app, int argc, char **argv)
{
	struct plot_opts opts = { 0 };
	struct session session = { 0 };
	struct plotting plot = { .app = app, .session = &session };
	struct error err;
	int first;

	first = options_parse(app, &cmd_plot, argc, argv, &opts, 1, INT_MAX,
			      &plot.status);
	if (first < 0)
		return plot.status;
	plot.names = argv + first;
	plot.count = (size_t)(argc - first);
	if (session_open(&session, app, 0, &err) < 0)
		goto fail;
	take_metric(&plot);
	if (open_stories(&plot, &err) < 0 ||
	    (opts.follow && follow(&plot, &err) < 0))
		goto fail;
	if (show(&plot, &err) == 0)
		goto out;
fail:
	plot.status = app_fail(app, &err);
out:
	free_curves(&plot);
	close_stories(&plot);
	session_close(&session);
	return plot.status;
}

const struct command cmd_plot = {
	.name = "plot",
	.group = GROUP_WATCH,
	.args = "[-f] JOB... [METRIC]",
	.summary = "draw the curve of a metric on the terminal",
	.help = "Draws all tasks, attempts and trials of the runs in one "
		"picture; without METRIC,\n"
		"the first metric that they print.\n"
		"  jobrun plot -f quickstart loss\n"
		"  jobrun plot resnet.3 resnet.5 accuracy\n",
	.options = options,
	.remote = true,
	.run = run,
};
