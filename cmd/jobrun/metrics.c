/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/interrupt.h"
#include "cmd/jobrun/view/metrics_view.h"
#include "cmd/jobrun/view/rows.h"
#include "cmd/jobrun/view/screen.h"
#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/view/sources.h"
#include "cmd/jobrun/ui/waiting.h"
#include "core/spec/spec.h"
#include "core/trial/trial_folder.h"

#define TICK_MS 500
#define PIECE (256 << 10)

enum format {
	FORMAT_TEXT,
	FORMAT_ROWS, /* all at the end, for other programs */
	FORMAT_CSV,
};

struct metrics_opts {
	bool follow;
	const char *format;
	const char *output;
	struct opt_list names;
	const char *task;
	const char *index;
	long attempt;
	long trial;
};

static const struct opt options[] = {
	{ 'f', "follow", OPT_FLAG, offsetof(struct metrics_opts, follow), NULL,
	  "follow until the run ends, as a live table" },
	{ 0, "format", OPT_CHOICE, offsetof(struct metrics_opts, format),
	  "text|json|csv", "text is the default; csv has a row per value" },
	{ 'o', "output", OPT_STRING, offsetof(struct metrics_opts, output),
	  "FORM", ROWS_FORMATS },
	{ 0, "metric", OPT_LIST, offsetof(struct metrics_opts, names), "NAME",
	  "only this metric; repeatable" },
	{ 0, "task", OPT_STRING, offsetof(struct metrics_opts, task), "TYPE",
	  "only master, worker, ps or evaluator" },
	{ 0, "index", OPT_STRING, offsetof(struct metrics_opts, index), "LIST",
	  "only tasks with these indices, such as 0,3-7" },
	{ 0, "attempt", OPT_COUNT, offsetof(struct metrics_opts, attempt), "N",
	  "an earlier run or attempt of the job" },
	{ 0, "trial", OPT_COUNT, offsetof(struct metrics_opts, trial), "N",
	  "a hyperparameter trial" },
	{ 0 },
};

struct metrics_reading {
	struct app *app;
	struct session *session;
	const struct metrics_opts *opts;
	enum format format;
	const struct run_record *run; /* its newest attempt is read */
	const char *names[OPT_LIST_MAX];
	struct loop *loop;
	struct loop_event *timer;
	struct screen *screen;      /* while following on a terminal */
	bool changed;               /* since it was drawn */
	struct loop_event *hang_up; /* of a terminal, or NULL */
	bool left;                  /* by a key, before the run's end */
	struct buf text;

	/* For the current attempt. */
	int attempt;
	struct arena *mem;
	struct metrics_view view;
	struct metric_parser *parser;
	struct metric_table *table;
	struct log_reader *reader;
	struct loop_event *event;
};

static enum format find_format(const char *name)
{
	if (rows_is_text(name))
		return FORMAT_TEXT;
	return !strcmp(name, "csv") ? FORMAT_CSV : FORMAT_ROWS;
}

static void flush(struct metrics_reading *r)
{
	app_print(r->app, &r->text);
	buf_clear(&r->text);
	/* Stop when nobody reads the output any more. */
	if (r->app->out_closed || r->app->out_errno)
		log_reader_stop(r->reader);
}

static void print_sample(void *arg, const struct log_line *line,
			 const struct metric_sample *sample)
{
	struct metrics_reading *r = arg;

	metrics_csv_rows(&r->view, line, sample, &r->text);
	if (r->text.len >= PIECE)
		flush(r);
}

static void add_line(void *arg, const struct log_line *line)
{
	struct metrics_reading *r = arg;

	metric_table_line(r->table, line,
			  r->format == FORMAT_CSV ? print_sample : NULL, r);
}

static int step(struct metrics_reading *r, bool ended, struct error *err)
{
	int ret = log_reader_step(r->reader, ended, add_line, r, err);

	metric_table_settle(r->table, -1);
	flush(r);
	return ret;
}

static void close_attempt(struct metrics_reading *r)
{
	metrics_say_missed(r->app, r->parser);
	log_reader_close(r->reader);
	metric_table_free(r->table);
	metric_parser_free(r->parser);
	arena_free(r->mem);
	r->reader = NULL;
	r->table = NULL;
	r->parser = NULL;
	r->mem = NULL;
}

static int open_attempt(struct metrics_reading *r, struct error *err)
{
	const struct log_filter filter = { .tail = SIZE_MAX, .states = true };
	const struct metrics_opts *opts = r->opts;
	struct source_choice choice = { opts->task, opts->index };
	char *run_folder = store_run_folder(r->session->env.store,
					    r->run->job_id, r->run->attempt);
	char *folder = opts->trial
			       ? trial_logs_folder(run_folder, (int)opts->trial)
			       : mem_strdup(run_folder);
	struct run_spec *spec;
	struct log_source *sources;
	size_t count;
	int ret = -1;

	r->attempt = r->run->attempt;
	r->mem = arena_new();
	spec = arena_alloc(r->mem, sizeof(*spec));
	if (spec_read(folder, r->mem, spec, err) < 0)
		goto out;
	if (spec->tuning.params.count && !opts->trial) {
		error_set(err, ERROR_USAGE,
			  "'%s' has trials: choose one with --trial; 'jobrun "
			  "status %s' lists them",
			  r->run->job_id, r->run->job_id);
		goto out;
	}
	if (sources_choose(spec, &choice, r->mem, &sources, &count, err) < 0)
		goto out;
	r->parser = metric_parser_new(&spec->metrics, err);
	if (!r->parser)
		goto out;
	if (opts->trial)
		metric_parser_know(r->parser, spec->tuning.metric_tag);
	r->table = metric_table_new(sources, count, r->parser);
	r->reader = log_reader_open(folder, sources, count, &filter, err);
	if (!r->reader)
		goto out;
	for (size_t i = 0; i < opts->names.count; i++)
		r->names[i] = opts->names.items[i].value;
	r->view = (struct metrics_view){
		.run = r->run,
		.table = r->table,
		.sources = sources,
		.source_count = count,
		.names = r->names,
		.name_count = opts->names.count,
		.all_tasks = opts->task || opts->index,
	};
	ret = 0;
out:
	free(folder);
	free(run_folder);
	return ret;
}

static void draw(void *arg, uint32_t events)
{
	struct metrics_reading *r = arg;
	struct buf text = { 0 };

	(void)events;
	metrics_text(&r->view, r->app, &text);
	screen_show(r->screen, &text);
	buf_done(&text);
	r->changed = false;
}

static void fail(struct metrics_reading *r, const struct error *err)
{
	app_fail(r->app, err);
	loop_remove(r->loop, r->event);
	r->event = NULL;
}

static void on_change(void *arg, uint32_t events)
{
	struct metrics_reading *r = arg;
	struct error err;

	(void)events;
	if (step(r, false, &err) < 0)
		fail(r, &err);
	r->changed = true;
}

static int watch_attempt(struct metrics_reading *r, struct error *err)
{
	int fd = log_reader_watch(r->reader, err);

	if (fd < 0)
		return -1;
	r->event = loop_add_fd(r->loop, fd, EPOLLIN, on_change, r, err);
	r->changed = true;
	return r->event ? step(r, false, err) : -1;
}

/* After a restart, reads the rest of the old attempt and goes on with the
 * newest. */
static int go_on(struct metrics_reading *r, struct error *err)
{
	if (r->run->attempt == r->attempt)
		return 0;
	if (step(r, true, err) < 0)
		return -1;
	loop_remove(r->loop, r->event);
	r->event = NULL;
	close_attempt(r);
	return open_attempt(r, err);
}

static void on_tick(void *arg, uint32_t events)
{
	struct metrics_reading *r = arg;
	struct error err;

	(void)events;
	if (r->run->attempt != r->attempt &&
	    (go_on(r, &err) < 0 || watch_attempt(r, &err) < 0))
		fail(r, &err);
	else if (r->changed && r->screen)
		draw(r, 0);
	r->timer = loop_add_timer(r->loop, TICK_MS, on_tick, r);
}

static void on_quit(void *arg, uint32_t events)
{
	struct metrics_reading *r = arg;

	(void)events;
	r->left = true;
	loop_stop(r->loop);
}

/* Opens the screen.  A terminal without one gets no output until the end, so
 * its hang-up must be watched for; EPOLLHUP is always reported. */
static int open_screen(struct metrics_reading *r, struct error *err)
{
	if (r->format != FORMAT_TEXT || !screen_is_possible(r->app)) {
		if (r->app->out_terminal)
			r->hang_up = loop_add_fd(r->loop, STDOUT_FILENO, 0,
						 on_quit, r, err);
		return r->app->out_terminal && !r->hang_up ? -1 : 0;
	}
	r->screen = screen_open(r->app, r->loop, draw, on_quit, r, err);
	return r->screen ? 0 : -1;
}

/* Follows the run until it ends. */
static int follow_run(struct metrics_reading *r, struct arena *mem,
		      struct run_record *run, struct error *err)
{
	int ret = -1;

	r->loop = loop_new(err);
	if (!r->loop || watch_attempt(r, err) < 0 || open_screen(r, err) < 0)
		goto out;
	r->timer = loop_add_timer(r->loop, 0, on_tick, r);
	r->app->only_shows = true;
	ret = waiting_run(r->session, r->loop, mem, run, -1, interrupt_stop,
			  r->loop, err);
	if (r->left)
		ret = 0;
	if (ret >= 0 && go_on(r, err) < 0)
		ret = -1;
out:
	screen_close(r->screen, false);
	r->screen = NULL;
	loop_remove(r->loop, r->timer);
	loop_remove(r->loop, r->event);
	loop_remove(r->loop, r->hang_up);
	loop_free(r->loop);
	return ret;
}

/* Shows the result after everything was read. */
static int show(struct metrics_reading *r, struct error *err)
{
	bool found = false;
	json_t *value;
	int ret = 0;

	for (size_t i = 0; i < metric_table_count(r->table); i++)
		if (metrics_wanted(&r->view,
				   metric_table_info(r->table, i)->name))
			found = true;
	if (r->format == FORMAT_ROWS) {
		value = metrics_json(&r->view);
		ret = rows_put(value, "metrics", "name", r->opts->format,
			       &r->text, err);
		json_decref(value);
	} else if (r->format == FORMAT_TEXT && r->view.name_count && !found) {
		return error_set(err, ERROR_FAILED,
				 "the run has no metric '%s' (yet); 'jobrun "
				 "metrics %s' lists its metrics",
				 r->view.names[0], r->view.run->job_id);
	} else if (r->format == FORMAT_TEXT && !found) {
		app_say(r->app,
			"no metrics in the output of '%s': see 'man "
			"jobrun-metrics' for the forms it reads, and 'jobrun "
			"explain jobrun.metrics' for patterns of your own",
			r->view.run->job_id);
	} else if (r->format == FORMAT_TEXT) {
		metrics_text(&r->view, r->app, &r->text);
		if (r->app->out_terminal && !screen_is_utf8())
			screen_ascii(&r->text);
	}
	flush(r);
	return ret;
}

static int run(struct app *app, int argc, char **argv)
{
	struct metrics_opts opts = { .format = "text" };
	struct session session = { 0 };
	struct arena *mem = arena_new();
	struct run_record record;
	struct metrics_reading reading = {
		.app = app, .session = &session, .opts = &opts, .run = &record
	};
	struct error err;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_metrics, argc, argv, &opts, 1, 1,
			      &status);
	if (first < 0)
		goto out;
	if (opts.output)
		opts.format = opts.output;
	if (rows_check(opts.format, &err) < 0)
		goto fail;
	reading.format = find_format(opts.format);
	if (session_open(&session, app, 0, &err) < 0 ||
	    session_run(&session, argv[first], (int)opts.attempt, mem, &record,
			&err) < 0 ||
	    open_attempt(&reading, &err) < 0)
		goto fail;
	if (reading.format == FORMAT_CSV)
		metrics_csv_head(&reading.text);
	if (opts.follow && !run_state_is_final(record.state)) {
		status = follow_run(&reading, mem, &record, &err);
		if (status < 0)
			goto fail;
	}
	if (step(&reading, run_state_is_final(record.state), &err) < 0 ||
	    show(&reading, &err) < 0)
		goto fail;
	goto out;
fail:
	status = app_fail(app, &err);
out:
	close_attempt(&reading);
	buf_done(&reading.text);
	session_close(&session);
	arena_free(mem);
	return status;
}

const struct command cmd_metrics = {
	.name = "metrics",
	.group = GROUP_WATCH,
	.args = "[-f] [--format text|json|csv] [-o FORM] [--metric NAME] JOB",
	.summary = "show loss, accuracy, rate ... from what the tasks print",
	.help = "Shows the newest value, the best, and the curve, per task and "
		"in total.\n"
		"  jobrun metrics -f quickstart\n"
		"  jobrun metrics --metric loss --format csv quickstart "
		">loss.csv\n"
		"For names of your own, set jobrun.metrics.patterns in the job "
		"file.\n",
	.options = options,
	.remote = true,
	.run = run,
};
