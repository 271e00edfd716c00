/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/choose.h"
#include "cmd/jobrun/ui/interrupt.h"
#include "cmd/jobrun/view/left.h"
#include "cmd/jobrun/ui/refresh.h"
#include "cmd/jobrun/view/rows.h"
#include "cmd/jobrun/view/screen.h"
#include "cmd/jobrun/ui/uploads.h"
#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/ui/visit.h"
#include "cmd/jobrun/view/trials.h"
#include "cmd/jobrun/view/usage_view.h"
#include "cmd/jobrun/view/waits.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/loop.h"
#include "core/base/show.h"
#include "core/base/units.h"
#include "core/job/revision.h"
#include "core/supervise/supervisor.h"
#include "core/remote/remote_run.h"

#define WATCH_MS 1000

struct status_opts {
	const char *format;
	const char *output;
	bool watch;
	bool all;
	struct choose_opts choose;
};

static const struct opt options[] = {
	{ 0, "format", OPT_CHOICE, offsetof(struct status_opts, format),
	  "text|json", "the output format; text is the default" },
	{ 'o', "output", OPT_STRING, offsetof(struct status_opts, output),
	  "FORM", ROWS_FORMATS },
	{ 'w', "watch", OPT_FLAG, offsetof(struct status_opts, watch), NULL,
	  "refresh until all runs have ended" },
	{ 'a', "all", OPT_FLAG, offsetof(struct status_opts, all), NULL,
	  "also earlier attempts, and runs of others" },
	{ 0 },
};

struct view {
	struct app *app;
	struct session *session;
	const struct status_opts *opts;
	char **names;
	size_t name_count;
	const char *
		*stale; /* of each run shown: why it is not fresh, or NULL */
	struct wait_list waits; /* jobs that have not started */
	struct loop *loop;
	struct screen *screen; /* while watching on a terminal */
	int status;
	bool interrupted;
};

/* Returns the session that has a run. */
static struct session *home_of(const struct view *view,
			       const struct run_record *run)
{
	return visit_of(view->session, run->job_id);
}

/* Reads the attempt before the current one of a restarted run; returns 1 if
 * there is none. */
static int previous(struct view *view, struct arena *mem,
		    const struct run_record *run, struct run_record *out,
		    struct error *err)
{
	struct store *store = home_of(view, run)->env.store;
	struct run_record at;
	int ret;

	if (run->attempt == run->origin)
		return 1;
	ret = store_run_get(store, run->job_id, run->origin, mem, &at, err);
	while (ret == 0 && at.attempt < run->attempt) {
		*out = at;
		ret = store_run_after(store, &at, mem, &at, err);
	}
	return ret;
}

static const char *state_color(enum run_state state)
{
	switch (state) {
	case RUN_SUCCEEDED:
		return "\033[32m";
	case RUN_FAILED:
		return "\033[31m";
	case RUN_CANCELLED:
	case RUN_CANCELLING:
		return "\033[33m";
	default:
		return "\033[36m";
	}
}

static void put_state(const struct app *app, enum run_state state, int width,
		      struct buf *out)
{
	buf_printf(out, "%s%-*s%s", app->out_color ? state_color(state) : "",
		   width, run_state_name(state),
		   app->out_color ? "\033[0m" : "");
}

/* Writes how long the run has been running, or ran. */
static void put_age(const struct run_record *run, char *out, size_t size)
{
	int64_t from =
		run->start_time_ms ? run->start_time_ms : run->create_time_ms;
	int64_t to = run->end_time_ms ? run->end_time_ms : time_now_ms();

	duration_format((long)((to - from) / 1000), out, size);
}

/* Writes the labels as "team=vision,user=me". */
static void put_labels(const struct run_record *run, struct buf *out)
{
	json_t *labels = choose_labels(run), *value;
	const char *name, *between = "";

	json_object_foreach(labels, name, value)
	{
		buf_puts(out, between);
		show_text(out, name);
		buf_putc(out, '=');
		show_text(out, json_string_value(value));
		between = ",";
	}
	json_decref(labels);
}

static void put_run_line(const struct app *app, const struct run_record *run,
			 int id_width, bool wide, struct buf *out)
{
	char started[32], age[32];

	time_format_log(run->create_time_ms, started, sizeof(started));
	put_age(run, age, sizeof(age));
	buf_printf(out, "%-*s  ", id_width, run->job_id);
	put_state(app, run->state, 10, out);
	buf_printf(out, "  %7d  %-10s  %s  %7s", run->attempt, run->provider,
		   started, age);
	if (run->exit_code >= 0)
		buf_printf(out, "  %4d", run->exit_code);
	else if (wide)
		buf_puts(out, "     -");
	if (wide) {
		buf_puts(out, "  ");
		put_labels(run, out);
	}
	buf_putc(out, '\n');
}

/* Writes the reason of the state, and why that may be out of date. */
static void put_words(const struct run_record *run, const char *stale,
		      struct buf *out)
{
	if (run->error) {
		buf_puts(out, "  ");
		show_text(out, run->error);
		buf_putc(out, '\n');
	}
	if (stale) {
		buf_puts(out, "  last known state: ");
		show_text(out, stale);
		buf_putc(out, '\n');
	}
}

static void put_tasks(const struct app *app, const struct task_list *tasks,
		      struct buf *out)
{
	char size[32];
	size_t i;

	buf_puts(out, "\n  TASK            STATE       EXIT  HOST             "
		      "    PID\n");
	for (i = 0; i < tasks->count; i++) {
		const struct task_record *task = &tasks->items[i];
		char name[64];

		snprintf(name, sizeof(name), "%s %d", task->type, task->index);
		buf_printf(out, "  %-14s  ", name);
		put_state(app, task->state, 10, out);
		if (task->exit_code >= 0)
			buf_printf(out, "  %4d", task->exit_code);
		else
			buf_puts(out, "     -");
		buf_printf(out, "  %-15s  ", task->host ? task->host : "");
		if (task->pid)
			buf_printf(out, "%7lld", (long long)task->pid);
		else
			buf_puts(out, "      -");
		if (task->lost_bytes) {
			size_format(task->lost_bytes, size, sizeof(size));
			buf_printf(out, "  (%s of output lost: disk full)",
				   size);
		}
		buf_putc(out, '\n');
	}
}

/* Writes why a run was restarted, and when it goes on. */
static int put_restarts(struct view *view, struct arena *mem,
			const struct run_record *run, struct buf *out,
			struct error *err)
{
	int64_t wait_ms = run->not_before_ms - time_now_ms();
	struct run_record before;
	char wait[32];
	int ret = previous(view, mem, run, &before, err);

	if (ret != 0)
		return ret < 0 ? -1 : 0;
	buf_printf(out,
		   "  restarted %d time%s, last because attempt %d %s: "
		   "%s\n",
		   run->restarts + run->preemptions,
		   run->restarts + run->preemptions == 1 ? "" : "s",
		   before.attempt, run_state_name(before.state),
		   before.error ? before.error : "");
	if (run->state == RUN_QUEUED && wait_ms > 0) {
		duration_format((long)((wait_ms + 999) / 1000), wait,
				sizeof(wait));
		buf_printf(out, "  waits another %s before it starts\n", wait);
	}
	return 0;
}

/* Returns what a run waits for on this machine, or NULL; in `mem`. */
static const char *queue_waits_for(const struct view *view,
				   const struct run_record *run,
				   struct arena *mem)
{
	char note[512] = "";

	if (run->state != RUN_QUEUED ||
	    !supervisor_note(home_of(view, run)->env.store, run->job_id,
			     run->origin, note, sizeof(note)))
		return NULL;
	return *note ? arena_strdup(mem, note) : NULL;
}

static void put_waits(const struct view *view, const struct run_record *run,
		      struct arena *mem, struct buf *out)
{
	const char *what = queue_waits_for(view, run, mem);

	if (what)
		buf_printf(out, "  waits: %s\n", what);
}

static void put_revision(const struct run_record *run, struct buf *out)
{
	struct buf text = { 0 };

	revision_text(run->revision, &text);
	if (text.len) {
		buf_puts(out, "  from ");
		show_text(out, text.data);
		buf_putc(out, '\n');
	}
	buf_done(&text);
}

/* Returns where the run is, in the provider's words, or NULL; in `mem`. */
static const char *where_of(const struct run_record *run, struct arena *mem)
{
	json_t *properties = remote_run_properties(run);
	const char *text = json_get_text(properties, "where", NULL);
	const char *out = text ? arena_strdup(mem, text) : NULL;

	json_decref(properties);
	return out;
}

static void put_where(const struct run_record *run, struct arena *mem,
		      struct buf *out)
{
	const char *where = where_of(run, mem);

	if (where) {
		buf_puts(out, "  in ");
		show_text(out, where);
		buf_putc(out, '\n');
	}
}

/* Writes what a run that has not started waits for, or "". */
static void waits_for(const struct view *view, const struct run_record *run,
		      char *out, size_t size)
{
	*out = '\0';
	if (run->state == RUN_QUEUED || run->state == RUN_PREPARING)
		supervisor_note(home_of(view, run)->env.store, run->job_id,
				run->origin, out, size);
}

static void put_wait(const struct view *view, const struct run_record *run,
		     struct buf *out)
{
	char text[512];

	waits_for(view, run, text, sizeof(text));
	if (!*text)
		return;
	buf_puts(out, "  waits for ");
	show_text(out, text);
	buf_putc(out, '\n');
}

static int put_trials(struct view *view, struct arena *mem,
		      const struct run_record *run, bool *tuned,
		      struct buf *out, struct error *err)
{
	struct session *home = home_of(view, run);
	const struct hyperparameter_spec *spec;
	struct trial_list trials;

	*tuned = false;
	if (store_trial_list(home->env.store, run, mem, &trials, err) < 0)
		return -1;
	spec = trials.count ? trials_spec(home, run, mem) : NULL;
	*tuned = spec;
	if (spec)
		trials_text(&trials, spec, out);
	return 0;
}

/* Adds the trials and the number of the best one. */
static int add_trials(struct view *view, struct arena *mem,
		      const struct run_record *run, json_t *to,
		      struct error *err)
{
	struct session *home = home_of(view, run);
	const struct hyperparameter_spec *spec;
	const struct trial_record *best;
	struct trial_list trials;

	if (store_trial_list(home->env.store, run, mem, &trials, err) < 0)
		return -1;
	spec = trials.count ? trials_spec(home, run, mem) : NULL;
	if (!spec)
		return 0;
	best = trials_best(&trials, spec);
	json_put_text(to, "metric", spec->metric_tag);
	json_put(to, "bestTrial",
		 best ? json_integer(best->number) : json_null());
	json_put(to, "trials", trials_json(&trials));
	return 0;
}

static void put_times(const char *key, int64_t time_ms, json_t *to)
{
	char text[40];

	if (time_ms)
		time_format(time_ms, text, sizeof(text));
	json_put(to, key, time_ms ? json_string(text) : json_null());
}

static void put_code(const char *key, int code, json_t *to)
{
	json_put(to, key, code >= 0 ? json_integer(code) : json_null());
}

/* Returns a run as JSON.  `before` is the previous attempt of a restarted run,
 * or NULL. */
static json_t *run_json(const struct run_record *run,
			const struct run_record *before,
			const struct task_list *tasks)
{
	json_t *revision = revision_json(run->revision);
	json_t *out = json_object();
	json_t *list = json_array();
	size_t i;

	json_put_text(out, "jobId", run->job_id);
	json_put_text(out, "provider", run->provider);
	json_put_text(out, "state", run_state_name(run->state));
	json_put_int(out, "attempt", run->attempt);
	put_times("createTime", run->create_time_ms, out);
	put_times("startTime", run->start_time_ms, out);
	put_times("endTime", run->end_time_ms, out);
	put_code("exitCode", run->exit_code, out);
	json_put_text(out, "error", run->error);
	json_put_text(out, "digest", run->digest);
	json_put(out, "revision", revision ? revision : json_null());
	json_put_int(out, "firstAttempt", run->origin);
	json_put_int(out, "restarts", run->restarts);
	json_put_int(out, "preemptions", run->preemptions);
	json_put_text(out, "restartedFor", before ? before->error : NULL);
	put_times("notBefore",
		  run->state == RUN_QUEUED ? run->not_before_ms : 0, out);
	for (i = 0; i < tasks->count; i++) {
		const struct task_record *task = &tasks->items[i];
		json_t *one = json_object();

		json_put_text(one, "type", task->type);
		json_put_int(one, "index", task->index);
		json_put_text(one, "state", run_state_name(task->state));
		put_code("exitCode", task->exit_code, one);
		json_put_text(one, "host", task->host);
		if (task->trial)
			json_put_int(one, "trial", task->trial);
		json_put(one, "pid",
			 task->pid && !run_state_is_final(task->state)
				 ? json_integer(task->pid)
				 : json_null());
		json_put_int(one, "lostBytes", (json_int_t)task->lost_bytes);
		json_array_append_new(list, one);
	}
	json_put(out, "tasks", list);
	return out;
}

/* Lists the requested runs in their current state. */
static int collect(struct view *view, struct arena *mem, struct run_list *out,
		   struct error *err)
{
	const struct choice choice = { .opts = &view->opts->choose,
				       .words = view->names,
				       .count = view->name_count,
				       .attempts = view->opts->all,
				       .visits = true,
				       .waits = &view->waits,
				       .others = view->opts->all,
				       .refreshed = true };
	struct run_record **wanted;
	size_t i;

	if (choose_visit(view->session, &choice, err) < 0 ||
	    store_wait_list(view->session->env.store, mem, &view->waits, err) <
		    0 ||
	    choose_runs(view->session, &choice, mem, out, err) < 0)
		return -1;
	wanted = arena_alloc(mem,
			     (out->count + 1) * sizeof(struct run_record *));
	for (i = 0; i < out->count; i++)
		wanted[i] = &out->items[i];
	view->stale = arena_alloc(mem, (out->count + 1) * sizeof(char *));
	if (refresh_runs(view->session, mem, wanted, out->count, view->stale,
			 err) < 0)
		return -1;
	choose_again(&choice, out, view->stale);
	choose_waits(&choice, &view->waits);
	return 0;
}

/* Lists open intents: of a command that is still running, or was killed. */
static int collect_open(struct view *view, struct arena *mem,
			const struct run_list *runs, struct intent_list *out,
			struct error *err)
{
	const struct choice choice = { .opts = &view->opts->choose,
				       .words = view->names,
				       .count = view->name_count };
	bool all = !view->name_count && !choice_has_options(&choice);
	size_t count = 0, i, j;

	if (store_intent_list(view->session->env.store, mem, out, err) < 0)
		return -1;
	for (i = 0; i < out->count; i++) {
		for (j = 0; j < runs->count; j++)
			if (!strcmp(out->items[i].job_id,
				    runs->items[j].job_id))
				break;
		if (all || j < runs->count)
			out->items[count++] = out->items[i];
	}
	out->count = count;
	return 0;
}

static void put_open(const struct intent_list *open, struct buf *out)
{
	char since[32];
	size_t i;

	if (open->count)
		buf_puts(out, "\n"
			      "not finished ('jobrun apply' resumes it, unless "
			      "one is still at it):\n");
	for (i = 0; i < open->count; i++) {
		const struct intent_record *one = &open->items[i];

		time_format_log(one->time_ms, since, sizeof(since));
		buf_printf(out, "  %s: %s %s '%s'%s", one->job_id,
			   strcmp(one->verb, "run") != 0 ? one->verb : "start",
			   one->kind, one->name, one->error ? ": " : "");
		show_text(out, one->error ? one->error : "");
		buf_printf(out, ", process %lld on %s, %s\n",
			   (long long)one->pid, one->host, since);
	}
}

static json_t *open_json(const struct intent_list *open)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < open->count; i++) {
		const struct intent_record *one = &open->items[i];
		json_t *item = json_object();

		json_put_text(item, "jobId", one->job_id);
		json_put_text(item, "action", one->verb);
		json_put_text(item, "kind", one->kind);
		json_put_text(item, "name", one->name);
		json_put_text(item, "error", one->error);
		json_put_text(item, "host", one->host);
		json_put_int(item, "pid", one->pid);
		put_times("time", one->time_ms, item);
		json_array_append_new(list, item);
	}
	return list;
}

/* Whether a single job was requested by its name, which shows its tasks,
 * too. */
static bool is_about_one(const struct view *view, const struct run_list *runs)
{
	return view->name_count == 1 && runs->count &&
	       !strcmp(view->names[0], runs->items[0].job_id);
}

static void put_none(const struct view *view, struct buf *out)
{
	const struct choice choice = { .opts = &view->opts->choose };

	if (!view->waits.count)
		buf_puts(out, view->name_count || choice_has_options(&choice)
				      ? "no run matches\n"
				      : "no runs yet\n");
	waits_text(view->session, &view->waits, out);
}

static int put_text(struct view *view, struct arena *mem,
		    const struct run_list *runs, struct buf *out,
		    struct error *err)
{
	bool wide = view->opts->output && !strcmp(view->opts->output, "wide");
	struct intent_list open;
	int id_width = 3;
	size_t i;

	if (collect_open(view, mem, runs, &open, err) < 0)
		return -1;
	if (!runs->count) {
		put_none(view, out);
		put_open(&open, out);
		return 0;
	}
	for (i = 0; i < runs->count; i++)
		if ((int)strlen(runs->items[i].job_id) > id_width)
			id_width = (int)strlen(runs->items[i].job_id);
	buf_printf(out,
		   "%-*s  STATE       ATTEMPT  PROVIDER    STARTED        "
		   "         TIME  EXIT%s\n",
		   id_width, "JOB", wide ? "  LABELS" : "");
	for (i = 0; i < runs->count; i++) {
		const struct run_record *run = &runs->items[i];
		struct session *home = home_of(view, run);
		struct store *store = home->env.store;
		struct task_list tasks;
		bool tuned, briefly = !is_about_one(view, runs) || i > 0;
		struct uploads kept;
		char *folder;

		put_run_line(view->app, run, id_width, wide, out);
		put_words(run, view->stale[i], out);
		put_wait(view, run, out);
		if (put_restarts(view, mem, run, out, err) < 0 ||
		    left_text(home, run, out, err) < 0)
			return -1;
		put_waits(view, run, mem, out);
		uploads_read(home, run, mem, &kept);
		uploads_text(&kept, briefly, out);
		if (!briefly) {
			put_revision(run, out);
			put_where(run, mem, out);
		}
		/* A single job is shown with details. */
		if (briefly)
			continue;
		usage_text(home, run, out);
		if (store_task_list(store, run, mem, &tasks, err) < 0)
			return -1;
		folder = store_run_folder(store, run->job_id, run->attempt);
		if (put_trials(view, mem, run, &tuned, out, err) < 0)
			return -1;
		if (tasks.count && !tuned)
			put_tasks(view->app, &tasks, out);
		buf_printf(out, "\n  files: %s\n", folder);
		free(folder);
		if (run->attempt == run->origin)
			continue;
		folder = store_run_folder(store, run->job_id, run->origin);
		buf_printf(out, "  shared by all attempts: %s\n", folder);
		free(folder);
	}
	waits_text(view->session, &view->waits, out);
	put_open(&open, out);
	return 0;
}

static int put_rows(struct view *view, struct arena *mem,
		    const struct run_list *runs, const char *form,
		    struct buf *out, struct error *err)
{
	json_t *all = json_object();
	json_t *jobs = json_array();
	struct intent_list open = { 0 };
	struct task_list tasks;
	json_t *labels;
	int ret = collect_open(view, mem, runs, &open, err);
	size_t i;

	json_put_int(all, "formatVersion", 1);
	json_put(all, "jobs", jobs);
	json_put(all, "unfinished", open_json(&open));
	if (view->waits.count)
		json_put(all, "notStarted",
			 waits_json(view->session, &view->waits));
	for (i = 0; i < runs->count && ret == 0; i++) {
		const struct run_record *run = &runs->items[i];
		struct session *home = home_of(view, run);
		struct run_record before;
		struct uploads kept;
		char wait[512];
		json_t *one;
		int first = previous(view, mem, run, &before, err);

		ret = first < 0 ? -1
				: store_task_list(home->env.store, run, mem,
						  &tasks, err);
		if (ret < 0)
			break;
		one = run_json(run, first ? NULL : &before, &tasks);
		json_array_append_new(jobs, one);
		labels = choose_labels(run);
		if (labels)
			json_put(one, "labels", labels);
		if (where_of(run, mem))
			json_put_text(one, "where", where_of(run, mem));
		waits_for(view, run, wait, sizeof(wait));
		if (*wait)
			json_put_text(one, "waitsFor", wait);
		json_put_text(one, "waitsFor", queue_waits_for(view, run, mem));
		if (view->stale[i])
			json_put_text(one, "stale", view->stale[i]);
		uploads_read(home, run, mem, &kept);
		uploads_json(&kept, one);
		usage_json(home, run, one);
		ret = add_trials(view, mem, run, one, err);
		if (ret == 0)
			ret = left_json(home, run, one, err);
	}
	if (ret == 0)
		ret = rows_put(all, "jobs", "jobId", form, out, err);
	json_decref(all);
	return ret;
}

static const char *form_of(const struct status_opts *opts)
{
	return opts->output ? opts->output : opts->format;
}

/* Shows the runs once; sets `going` if any has not ended. */
static int show(struct view *view, bool *going, struct error *err)
{
	struct arena *mem = arena_new();
	struct run_list runs;
	struct buf text = { 0 };
	int ret = -1;
	size_t i;

	*going = false;
	if (collect(view, mem, &runs, err) < 0)
		goto out;
	if (rows_is_text(form_of(view->opts)))
		ret = put_text(view, mem, &runs, &text, err);
	else
		ret = put_rows(view, mem, &runs, form_of(view->opts), &text,
			       err);
	if (ret < 0)
		goto out;
	if (view->screen)
		screen_show(view->screen, &text);
	else
		app_print(view->app, &text);
	for (i = 0; i < runs.count; i++)
		if (!run_state_is_final(runs.items[i].state))
			*going = true;
	for (i = 0; i < view->waits.count; i++)
		if (!waits_are_over(&view->waits.items[i]) &&
		    session_is_locked(view->session,
				      view->waits.items[i].job_id))
			*going = true;
out:
	buf_done(&text);
	arena_free(mem);
	return ret;
}

static void on_tick(void *arg, uint32_t events)
{
	struct view *view = arg;
	struct error err;
	bool going;

	(void)events;
	if (show(view, &going, &err) < 0) {
		view->status = app_fail(view->app, &err);
		loop_stop(view->loop);
	} else if (!going || view->app->out_closed) {
		loop_stop(view->loop);
	} else {
		loop_add_timer(view->loop, WATCH_MS, on_tick, view);
	}
}

static void on_interrupt(void *arg, uint32_t number)
{
	struct view *view = arg;

	(void)number;
	view->status = ERROR_INTERRUPTED;
	loop_stop(view->loop);
}

static void on_quit(void *arg, uint32_t events)
{
	struct view *view = arg;

	(void)events;
	loop_stop(view->loop);
}

/* Redraws for a new size of the terminal. */
static void on_resize(void *arg, uint32_t events)
{
	bool going;
	struct error ignored;

	(void)events;
	show(arg, &going, &ignored);
}

static int watch(struct view *view, struct error *err)
{
	struct interrupt *interrupt;
	int ret = -1;

	view->loop = loop_new(err);
	if (!view->loop)
		return -1;
	interrupt = interrupt_new(view->loop, 0, on_interrupt, view, err);
	if (interrupt && screen_is_possible(view->app)) {
		view->screen = screen_open(view->app, view->loop, on_resize,
					   on_quit, view, err);
		if (!view->screen)
			goto out;
	}
	if (interrupt) {
		loop_add_timer(view->loop, 0, on_tick, view);
		ret = loop_run(view->loop, err);
	}
out:
	screen_close(view->screen, true);
	interrupt_free(interrupt);
	loop_free(view->loop);
	return ret;
}

static int run(struct app *app, int argc, char **argv)
{
	struct status_opts opts = { .format = "text" };
	struct session session = { 0 };
	struct view view = { .app = app, .session = &session, .opts = &opts };
	struct error err;
	bool going;
	int first;

	first = options_parse(app, &cmd_status, argc, argv, &opts, 0, INT_MAX,
			      &view.status);
	if (first < 0)
		return view.status;
	view.names = argv + first;
	view.name_count = (size_t)(argc - first);
	if (rows_check(opts.output, &err) < 0 ||
	    session_open(&session, app, 0, &err) < 0 ||
	    (opts.watch ? watch(&view, &err) : show(&view, &going, &err)) < 0)
		view.status = app_fail(app, &err);
	session_close(&session);
	return view.status;
}

const struct command cmd_status = {
	.name = "status",
	.group = GROUP_RUN,
	.args = "[-o FORM] [--watch] [-l LABEL=VALUE] [--state LIST] [JOB...]",
	.summary = "show runs and their tasks, and why one failed",
	.help = "Shows the newest run of each job; with one JOB, its tasks "
		"too.\n" CHOOSE_HELP "  jobrun status --watch 'train-*'\n"
		"  jobrun status --state FAILED --since 24h -o json\n",
	.options = options,
	.more = choose_rows,
	.more_offset = offsetof(struct status_opts, choose),
	.remote = true,
	.run = run,
};
