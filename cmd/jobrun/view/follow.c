/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cmd/jobrun/view/metrics_view.h"
#include "cmd/jobrun/view/open_line.h"
#include "cmd/jobrun/view/trials.h"
#include "core/base/file.h"
#include "core/base/units.h"
#include "core/spec/upload_event.h"
#include "core/checkpoint/log_uploader.h"
#include "core/supervise/supervisor.h"
#include "core/trial/trial_folder.h"
#include "core/spec/spec.h"

/* Output is printed in pieces of about this size. */
#define PIECE (256 << 10)

struct follow {
	struct app *app;
	struct session *session;
	struct follow_view view;
	struct run_record run; /* the attempt shown; strings in `mem` */

	struct loop *loop; /* NULL: not followed */
	struct loop_event *event;
	struct loop_event *state_event; /* the run's state has changed */
	int state_fd;
	uint64_t events_read;     /* by the saver of checkpoints */
	uint64_t log_events_read; /* by the log uploader */

	/* For the current attempt. */
	struct arena *mem;
	char *folder; /* where its logs are; owned */
	struct run_spec spec;
	struct log_source *sources;
	size_t count;
	struct log_reader *reader;
	struct log_printer *printer;
	struct open_lines *open; /* NULL: not followed */
	struct buf text;
	/* The line below the output on a terminal. */
	struct metric_parser *parser;
	struct metric_table *metrics; /* NULL: none is shown */

	int trial;   /* 0: none */
	bool trials; /* only messages, no reader */
	int *said;   /* by number - 1: last state said; owned */
	size_t said_count;
};

/* Reports changes of the trials since the last call. */
static int say_trials(struct follow *follow, struct error *err)
{
	struct arena *mem = arena_new();
	struct trial_list trials;
	int ret = store_trial_list(follow->session->env.store, &follow->run,
				   mem, &trials, err);

	for (size_t i = 0; ret == 0 && i < trials.count; i++) {
		const struct trial_record *trial = &trials.items[i];
		struct buf text = { 0 };

		if (i == follow->said_count)
			follow->said =
				mem_grow(follow->said, ++follow->said_count,
					 sizeof(*follow->said));
		else if (follow->said[i] == (int)trial->state ||
			 !run_state_is_final(trial->state))
			continue;
		follow->said[i] = (int)trial->state;
		if (run_state_is_final(trial->state)) {
			trial_describe(trial, &follow->spec.tuning, &text);
		} else {
			buf_printf(&text, "trial %d started with ",
				   trial->number);
			trial_put_arguments(trial, &text);
		}
		app_say(follow->app, "%s: %s", follow->run.job_id,
			buf_text(&text));
		buf_done(&text);
	}
	arena_free(mem);
	return ret;
}

/* The most events shown from before following began. */
#define EVENTS_MAX 10

/* Reports the new events in a file of the run's folder. */
static void say_events(struct follow *follow, const char *name,
		       const char *what, uint64_t *offset)
{
	struct arena *mem = arena_new();
	char *folder = store_run_folder(follow->session->env.store,
					follow->run.job_id, follow->run.origin);
	char *path = path_join(folder, name);
	struct upload_events events;
	struct error ignored;
	size_t i = 0;

	if (upload_events_read(path, offset, mem, &events, &ignored) == 0) {
		if (events.count > EVENTS_MAX)
			i = events.count - EVENTS_MAX;
		for (; i < events.count; i++)
			app_say(follow->app, "%s: %s: %s", follow->run.job_id,
				what, events.items[i].text);
	}
	free(path);
	free(folder);
	arena_free(mem);
}

/* Reports the events of checkpoints and log uploads since the last call. */
static void say_uploads(struct follow *follow)
{
	if (follow->mem && follow->spec.checkpoints.is_used)
		say_events(follow, UPLOAD_EVENTS, "checkpoints",
			   &follow->events_read);
	if (follow->mem && follow->spec.logs.to)
		say_events(follow, LOG_KEEPER_EVENTS, "logs",
			   &follow->log_events_read);
}

static void flush(struct follow *follow)
{
	app_print(follow->app, &follow->text);
	buf_clear(&follow->text);
}

static void flush_piece(struct follow *follow)
{
	if (follow->text.len >= PIECE)
		flush(follow);
	/* Stop when nobody reads the output any more. */
	if (follow->app->out_closed || follow->app->out_errno)
		log_reader_stop(follow->reader);
}

static void print_line(void *arg, const struct log_line *line)
{
	struct follow *follow = arg;

	log_printer_add(follow->printer, line, &follow->text);
	if (follow->metrics)
		metric_table_line(follow->metrics, line, NULL, NULL);
	flush_piece(follow);
}

static void print_block(void *arg, const struct log_line *lines)
{
	struct follow *follow = arg;

	log_printer_add_block(follow->printer, lines, &follow->text);
	flush_piece(follow);
}

static void note_host(void *arg, const struct log_source *source)
{
	struct follow *follow = arg;
	struct log_source *own = &follow->sources[source - follow->sources];
	struct run_spec now;
	struct error ignored;

	/* Machines created after the run was opened have names by now. */
	if (follow->spec.allocation && !follow->spec.hosts.names.count &&
	    spec_read(follow->folder, follow->mem, &now, &ignored) == 0)
		follow->spec = now;
	if (follow->spec.allocation)
		own->host = spec_host_name(&follow->spec, (size_t)own->ordinal);
	own->host = sources_host(own, follow->folder, follow->mem);
}

static int open_attempt(struct follow *follow, const char *job_id, int attempt,
			struct error *err)
{
	struct store *store = follow->session->env.store;
	char *run_folder = store_run_folder(store, job_id, attempt);
	int ret = -1;

	follow->folder = follow->trial
				 ? trial_logs_folder(run_folder, follow->trial)
				 : mem_strdup(run_folder);
	follow->mem = arena_new();
	if (store_run_get(store, job_id, attempt, follow->mem, &follow->run,
			  err) < 0 ||
	    spec_read(follow->folder, follow->mem, &follow->spec, err) < 0)
		goto out;
	follow->view.style.from_ms = follow->run.start_time_ms
					     ? follow->run.start_time_ms
					     : follow->run.create_time_ms;
	follow->printer = log_printer_new(&follow->view.style);
	follow->trials = follow->spec.tuning.params.count && !follow->trial;
	if (follow->trials) {
		ret = 0;
		goto out;
	}
	if (sources_choose(&follow->spec, &follow->view.tasks, follow->mem,
			   &follow->sources, &follow->count, err) < 0)
		goto out;
	follow->reader =
		log_reader_open(follow->folder, follow->sources, follow->count,
				&follow->view.filter, err);
	if (!follow->reader)
		goto out;
	log_reader_tell_found(follow->reader, note_host, follow);
	log_reader_take_blocks(follow->reader, print_block);
	ret = 0;
out:
	free(run_folder);
	return ret;
}

static void close_attempt(struct follow *follow)
{
	open_lines_free(follow->open);
	if (follow->printer) {
		log_printer_end(follow->printer, &follow->text);
		flush(follow);
	}
	metrics_say_missed(follow->app, follow->parser);
	metric_table_free(follow->metrics);
	metric_parser_free(follow->parser);
	log_reader_close(follow->reader);
	log_printer_free(follow->printer);
	free(follow->folder);
	arena_free(follow->mem);
	follow->folder = NULL;
	follow->metrics = NULL;
	follow->parser = NULL;
	follow->reader = NULL;
	follow->printer = NULL;
	follow->open = NULL;
	follow->mem = NULL;
	follow->count = 0;
}

struct follow *follow_open(struct session *session, const char *job_id,
			   int attempt, int trial,
			   const struct follow_view *view, struct error *err)
{
	struct follow *follow = mem_alloc(sizeof(*follow));

	follow->app = session->app;
	follow->session = session;
	follow->view = *view;
	follow->state_fd = -1;
	follow->trial = trial;
	if (open_attempt(follow, job_id, attempt, err) < 0) {
		follow_close(follow);
		return NULL;
	}
	return follow;
}

void follow_close(struct follow *follow)
{
	if (!follow)
		return;
	follow_stop(follow);
	close_attempt(follow);
	buf_done(&follow->text);
	free(follow->said);
	free(follow);
}

/* Starts showing metrics, or leaves them out if that fails. */
static void start_metrics(struct follow *follow)
{
	struct error ignored;

	if (!follow->app->live || follow->metrics)
		return;
	follow->parser = metric_parser_new(&follow->spec.metrics, &ignored);
	if (!follow->parser)
		return;
	if (follow->trial)
		metric_parser_know(follow->parser,
				   follow->spec.tuning.metric_tag);
	follow->metrics = metric_table_new(follow->sources, follow->count,
					   follow->parser);
	/* The simple reader is used, as it looks at each line. */
	log_reader_take_blocks(follow->reader, NULL);
	open_lines_add_metrics(follow->open, follow->metrics);
}

static int step(struct follow *follow, bool ended, struct error *err)
{
	int ret;

	if (follow->trials)
		return say_trials(follow, err);
	ret = log_reader_step(follow->reader, ended, print_line, follow, err);
	flush(follow);
	if (follow->metrics)
		metric_table_settle(follow->metrics, -1);
	if (follow->open && !ended)
		open_lines_changed(follow->open);
	return ret;
}

static void fail(struct follow *follow, const struct error *err)
{
	app_fail(follow->app, err);
	follow_stop(follow);
}

static void on_change(void *arg, uint32_t events)
{
	struct follow *follow = arg;
	struct error err;

	(void)events;
	if (step(follow, false, &err) < 0)
		fail(follow, &err);
}

/* Watches the logs of the attempt from the loop. */
static int watch_attempt(struct follow *follow, struct error *err)
{
	int fd;

	if (follow->trials)
		return step(follow, false, err);
	fd = log_reader_watch(follow->reader, err);
	if (fd < 0)
		return -1;
	follow->open = open_lines_new(follow->app, follow->loop, follow->reader,
				      follow->printer);
	start_metrics(follow);
	follow->event =
		loop_add_fd(follow->loop, fd, EPOLLIN, on_change, follow, err);
	if (!follow->event)
		return -1;
	return step(follow, false, err);
}

static void say_next(struct follow *follow, const struct run_record *ended,
		     const struct run_record *next)
{
	int64_t wait_ms = next->not_before_ms - next->create_time_ms;
	char when[64] = "";
	char delay[32];

	if (wait_ms >= 1000) {
		duration_format((long)((wait_ms + 500) / 1000), delay,
				sizeof(delay));
		snprintf(when, sizeof(when), " in %s", delay);
	}
	app_say(follow->app, "%s: attempt %d %s: %s; attempt %d starts%s",
		ended->job_id, ended->attempt, run_state_name(ended->state),
		ended->error ? ended->error : "", next->attempt, when);
}

/* Goes on with attempts that have begun since. */
static int go_on(struct follow *follow, struct error *err)
{
	struct store *store = follow->session->env.store;
	struct arena *mem = arena_new();
	struct run_record ended, next;
	int ret;

	while ((ret = store_run_after(store, &follow->run, mem, &next, err)) ==
	       0) {
		/* The attempt shown has ended: print the rest. */
		if (step(follow, true, err) < 0 ||
		    store_run_get(store, next.job_id, follow->run.attempt, mem,
				  &ended, err) != 0)
			break;
		loop_remove(follow->loop, follow->event);
		follow->event = NULL;
		close_attempt(follow);
		say_next(follow, &ended, &next);
		follow->view.filter.tail = SIZE_MAX;
		if (open_attempt(follow, next.job_id, next.attempt, err) < 0 ||
		    watch_attempt(follow, err) < 0)
			break;
	}
	arena_free(mem);
	return ret == 1 ? 0 : -1;
}

int follow_step(struct follow *follow, bool ended, struct error *err)
{
	if (ended && follow->loop && go_on(follow, err) < 0)
		return -1;
	if (ended && follow->loop)
		say_uploads(follow);
	return follow->mem ? step(follow, ended, err) : 0;
}

static void on_state(void *arg, uint32_t events)
{
	struct follow *follow = arg;
	struct error err;
	char drop[4096];

	(void)events;
	while (read(follow->state_fd, drop, sizeof(drop)) > 0)
		;
	say_uploads(follow);
	if (go_on(follow, &err) < 0 ||
	    (follow->trials && step(follow, false, &err) < 0))
		fail(follow, &err);
}

int follow_start(struct follow *follow, struct loop *loop, struct error *err)
{
	follow->loop = loop;
	if (supervisor_watch(follow->session->env.store, follow->run.job_id,
			     follow->run.attempt, &follow->state_fd, err) < 0)
		return -1;
	follow->state_event = loop_add_fd(loop, follow->state_fd, EPOLLIN,
					  on_state, follow, err);
	if (!follow->state_event || watch_attempt(follow, err) < 0)
		return -1;
	say_uploads(follow);
	/* The run may have been restarted before the watch began. */
	return go_on(follow, err);
}

void follow_stop(struct follow *follow)
{
	if (follow->loop) {
		loop_remove(follow->loop, follow->event);
		loop_remove(follow->loop, follow->state_event);
		open_lines_free(follow->open);
	}
	if (follow->state_fd >= 0)
		close(follow->state_fd);
	follow->loop = NULL;
	follow->event = NULL;
	follow->state_event = NULL;
	follow->state_fd = -1;
	follow->open = NULL;
}
