/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <regex.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/choose.h"
#include "cmd/jobrun/view/follow.h"
#include "cmd/jobrun/ui/interrupt.h"
#include "cmd/jobrun/view/left.h"
#include "cmd/jobrun/view/line_style.h"
#include "cmd/jobrun/view/outcome.h"
#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/view/trials.h"
#include "cmd/jobrun/ui/visit.h"
#include "cmd/jobrun/ui/waiting.h"
#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/supervise/supervisor.h"

#define FETCH_MS 3000

struct logs_opts {
	bool follow;
	const char *task;
	const char *index;
	const char *grep;
	long since;
	const char *tail;
	long attempt;
	long trial;
	bool first_error;
	bool all;
	struct line_opts lines;
	struct choose_opts choose;
};

static const struct opt options[] = {
	{ 'f', "follow", OPT_FLAG, offsetof(struct logs_opts, follow), NULL,
	  "follow until the run ends" },
	{ 0, "task", OPT_STRING, offsetof(struct logs_opts, task), "TYPE",
	  "only master, worker, ps or evaluator" },
	{ 0, "index", OPT_STRING, offsetof(struct logs_opts, index), "LIST",
	  "only tasks with these indices, such as 0,3-7" },
	{ 0, "grep", OPT_STRING, offsetof(struct logs_opts, grep), "RE",
	  "only lines that match this extended regex" },
	{ 0, "since", OPT_DURATION, offsetof(struct logs_opts, since),
	  "DURATION", "only lines of the last 90s, 10m, 2h ..." },
	{ 0, "tail", OPT_STRING, offsetof(struct logs_opts, tail), "N",
	  "only the last N lines so far" },
	{ 0, "attempt", OPT_COUNT, offsetof(struct logs_opts, attempt), "N",
	  "an earlier run or attempt of the job" },
	{ 0, "trial", OPT_COUNT, offsetof(struct logs_opts, trial), "N",
	  "a hyperparameter trial" },
	{ 0, "first-error", OPT_FLAG, offsetof(struct logs_opts, first_error),
	  NULL, "only the task that failed first" },
	CHOOSE_OTHERS(struct logs_opts),
	{ 0 },
};

static int make_filter(const struct logs_opts *opts, regex_t *regex,
		       struct log_filter *filter, struct error *err)
{
	char why[200];
	long tail;
	int code;

	filter->tail = SIZE_MAX;
	if (opts->tail) {
		if (number_parse(opts->tail, 0, LONG_MAX - 1, &tail, err) < 0)
			return error_prefix(err, "--tail");
		filter->tail = (size_t)tail;
	}
	if (opts->since >= 0)
		filter->since_ms = time_now_ms() - opts->since * 1000;
	if (!opts->grep)
		return 0;
	code = regcomp(regex, opts->grep, REG_EXTENDED | REG_NOSUB);
	if (code) {
		regerror(code, regex, why, sizeof(why));
		return error_set(err, ERROR_USAGE, "--grep '%s': %s",
				 opts->grep, why);
	}
	filter->grep = regex;
	return 0;
}

/* Chooses the task that failed first. */
static int choose_first_error(struct session *session,
			      const struct run_record *run, struct arena *mem,
			      struct source_choice *tasks, struct error *err)
{
	const struct task_record *first;
	struct task_list list;

	if (store_task_list(session->env.store, run, mem, &list, err) < 0)
		return -1;
	first = outcome_culprit(&list);
	if (!first)
		return error_set(err, ERROR_FAILED, "no task of '%s' failed",
				 run->job_id);
	tasks->type = first->type;
	tasks->indices = arena_printf(mem, "%d", first->index);
	return 0;
}

/* Checks the trial, as trials have logs of their own. */
static int check_trial(struct session *session, const struct run_record *run,
		       long trial, struct arena *mem, struct error *err)
{
	struct trial_list trials;

	if (store_trial_list(session->env.store, run, mem, &trials, err) < 0)
		return -1;
	if (trial > (long)trials.count)
		return error_set(err, ERROR_USAGE,
				 "attempt %d of '%s' has no trial %ld: "
				 "'jobrun status %s' lists them",
				 run->attempt, run->job_id, trial, run->job_id);
	if (!trial && trials_spec(session, run, mem))
		return error_set(err, ERROR_USAGE,
				 "'%s' has trials: choose one with --trial; "
				 "'jobrun status %s' lists them",
				 run->job_id, run->job_id);
	return 0;
}

/* Fetches what hosts that were cut off still have of an ended run, if they
 * answer; the rest is shown in any case. */
static void fetch_missing(struct session *session, const struct run_record *run)
{
	struct error ignored;

	if (run_state_is_final(run->state) &&
	    supervisor_end_left(session->env.store, run, true, FETCH_MS,
				&ignored) < 0)
		left_say(session, run);
}

static int follow_run(struct session *session, struct follow *follow,
		      struct arena *mem, struct run_record *run,
		      struct error *err)
{
	struct loop *loop = loop_new(err);
	int ret = -1;

	if (!loop || follow_start(follow, loop, err) < 0)
		goto out;
	session->app->only_shows = true;
	ret = waiting_run(session, loop, mem, run, -1, interrupt_stop, loop,
			  err);
	/* Go on with later attempts that the follower does not know of yet. */
	if (ret == 0 && run_state_is_final(run->state))
		ret = follow_step(follow, true, err);
out:
	follow_stop(follow);
	loop_free(loop);
	return ret;
}

/* ---- the output of several runs ---- */

#define LOOK_MS 1000

struct one_of_many {
	const char *job_id;
	int origin;            /* its first attempt */
	struct follow *follow; /* NULL: not opened yet, or done */
	bool is_done;
};

struct logs_of_many {
	struct session *session;
	const struct choice *choice;
	const struct follow_view *view;
	bool follows;
	struct loop *loop; /* or NULL */
	struct arena *mem;
	struct one_of_many *items;
	size_t count;
	int status;
};

static struct one_of_many *find_one(struct logs_of_many *many,
				    const struct run_record *run)
{
	size_t i;

	for (i = 0; i < many->count; i++)
		if (!strcmp(many->items[i].job_id, run->job_id) &&
		    many->items[i].origin == run->origin)
			return &many->items[i];
	return NULL;
}

static struct one_of_many *add_one(struct logs_of_many *many,
				   const struct run_record *run)
{
	size_t n = many->count++;
	struct one_of_many *one;

	if (!(n & (n - 1)))
		many->items = mem_grow(many->items, n ? 2 * n : 1,
				       sizeof(*many->items));
	one = &many->items[n];
	*one = (struct one_of_many){
		.job_id = arena_strdup(many->mem, run->job_id),
		.origin = run->origin,
	};
	return one;
}

/* Opens the output of a run.  What has just begun may have no folder yet, so
 * only what cannot be opened at the end is a failure. */
static void open_one(struct logs_of_many *many, struct one_of_many *one,
		     const struct run_record *run)
{
	struct follow_view view = *many->view;
	bool is_last = !many->loop || run_state_is_final(run->state);
	struct error err;

	if (one->follow || one->is_done)
		return;
	view.style.job = one->job_id;
	one->follow = follow_open(
		visit_of(many->session, one->job_id), one->job_id,
		many->follows ? run->origin : run->attempt, 0, &view, &err);
	if (one->follow && !is_last &&
	    follow_start(one->follow, many->loop, &err) < 0) {
		follow_close(one->follow);
		one->follow = NULL;
	}
	if (!one->follow && is_last) {
		one->is_done = true;
		many->status = app_fail(many->session->app, &err);
	}
}

static void end_one(struct logs_of_many *many, struct one_of_many *one)
{
	struct error err;

	one->is_done = true;
	if (!one->follow)
		return;
	if (follow_step(one->follow, true, &err) < 0)
		many->status = app_fail(many->session->app, &err);
	follow_stop(one->follow);
	follow_close(one->follow);
	one->follow = NULL;
}

/* Looks which runs there are now; returns 1 if any goes on, 0 if none does. */
static int look_around(struct logs_of_many *many, struct error *err)
{
	struct arena *mem = arena_new();
	struct run_list runs;
	size_t i, going = 0;
	int ret = choose_runs(many->session, many->choice, mem, &runs, err);

	for (i = 0; i < runs.count && ret == 0; i++) {
		struct run_record *run = &runs.items[i];
		struct one_of_many *one = find_one(many, run);
		struct error ignored;

		/* A run whose provider does not answer keeps its last known
		 * state. */
		session_refresh_one(visit_of(many->session, run->job_id), mem,
				    run, &ignored);
		one = one ? one : add_one(many, run);
		open_one(many, one, run);
		if (run_state_is_final(run->state))
			end_one(many, one);
		else
			going++;
	}
	arena_free(mem);
	return ret < 0 ? -1 : going > 0;
}

static void on_look(void *arg, uint32_t events)
{
	struct logs_of_many *many = arg;
	struct error err;
	int going = look_around(many, &err);

	(void)events;
	if (going < 0)
		many->status = app_fail(many->session->app, &err);
	if (going > 0 && !many->session->app->out_closed)
		loop_add_timer(many->loop, LOOK_MS, on_look, many);
	else
		loop_stop(many->loop);
}

static void on_many_interrupted(void *arg, uint32_t number)
{
	struct logs_of_many *many = arg;

	(void)number;
	many->status = ERROR_INTERRUPTED;
	loop_stop(many->loop);
}

static int follow_many(struct logs_of_many *many, struct error *err)
{
	struct interrupt *interrupt = NULL;
	int ret = -1;

	many->loop = loop_new(err);
	if (many->loop)
		interrupt = interrupt_new(many->loop, 0, on_many_interrupted,
					  many, err);
	if (interrupt) {
		many->session->app->only_shows = true;
		loop_add_timer(many->loop, 0, on_look, many);
		ret = loop_run(many->loop, err);
	}
	interrupt_free(interrupt);
	return ret;
}

/* Shows the logs of several runs; returns the exit status. */
static int show_many(struct session *session, const struct choice *choice,
		     const struct logs_opts *opts,
		     const struct follow_view *view)
{
	struct logs_of_many many = { .session = session,
				     .choice = choice,
				     .view = view,
				     .follows = opts->follow,
				     .mem = arena_new() };
	struct error err;
	size_t i;
	int ret = opts->follow ? follow_many(&many, &err)
			       : look_around(&many, &err);

	if (ret < 0)
		many.status = app_fail(session->app, &err);
	for (i = 0; i < many.count; i++) {
		if (many.items[i].follow && !opts->follow &&
		    follow_step(many.items[i].follow, false, &err) < 0)
			many.status = app_fail(session->app, &err);
		if (many.loop && many.items[i].follow)
			follow_stop(many.items[i].follow);
		follow_close(many.items[i].follow);
	}
	loop_free(many.loop);
	free(many.items);
	arena_free(many.mem);
	return many.status;
}

/* Refuses options that are for a single run. */
static int check_many(const struct logs_opts *opts, struct error *err)
{
	if (opts->attempt || opts->trial || opts->first_error)
		return error_set(err, ERROR_USAGE,
				 "--attempt, --trial and --first-error are "
				 "for one JOB");
	return 0;
}

static int run(struct app *app, int argc, char **argv)
{
	struct logs_opts opts = { .since = -1 };
	struct choice choice = { .opts = &opts.choose, .visits = true };
	struct follow_view view = { 0 };
	struct session session = { 0 }, *home;
	struct arena *mem = arena_new();
	struct follow *follow = NULL;
	struct run_record record;
	struct error err;
	regex_t regex;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_logs, argc, argv, &opts, 0, INT_MAX,
			      &status);
	if (first < 0)
		goto out;
	choice_take(&choice, argc - first, argv + first);
	choice.others = opts.all;
	if (!choice_is_made(&choice)) {
		status = command_misused(app, &cmd_logs,
					 "missing argument JOB...");
		goto out;
	}
	view.tasks.type = opts.task;
	view.tasks.indices = opts.index;
	view.style = line_style(&opts.lines, app);
	if (make_filter(&opts, &regex, &view.filter, &err) < 0 ||
	    session_open(&session, app, 0, &err) < 0 ||
	    choose_visit(&session, &choice, &err) < 0)
		goto fail;
	if (choice.count != 1 || choice_is_open(&choice)) {
		if (check_many(&opts, &err) < 0)
			goto fail;
		status = show_many(&session, &choice, &opts, &view);
		goto out;
	}
	home = visit_of(&session, argv[first]);
	if (session_run(home, argv[first], (int)opts.attempt, mem, &record,
			&err) < 0 ||
	    (opts.first_error &&
	     choose_first_error(home, &record, mem, &view.tasks, &err) < 0))
		goto fail;
	if (check_trial(home, &record, opts.trial, mem, &err) < 0)
		goto fail;
	fetch_missing(home, &record);
	follow = follow_open(home, record.job_id, record.attempt,
			     (int)opts.trial, &view, &err);
	if (!follow)
		goto fail;
	if (opts.follow && !run_state_is_final(record.state)) {
		status = follow_run(home, follow, mem, &record, &err);
		if (status < 0)
			goto fail;
	}
	if (follow_step(follow, run_state_is_final(record.state), &err) < 0)
		goto fail;
	goto out;
fail:
	status = app_fail(app, &err);
out:
	follow_close(follow);
	if (view.filter.grep)
		regfree(&regex);
	session_close(&session);
	arena_free(mem);
	return status;
}

const struct command cmd_logs = {
	.name = "logs",
	.group = GROUP_RUN,
	.args = "[-f] [--task TYPE] [--index LIST] [-l LABEL=VALUE] JOB...",
	.summary = "print the output of a run's tasks",
	.help = CHOOSE_HELP
	"With -f, runs that start later join in.\n"
	"On a terminal each line starts with its task; elsewhere it has the "
	"form of\n"
	"PyTorch/XLA's launcher: time, host, [number of the task], text.\n"
	"  jobrun logs -f quickstart --task worker --index 1\n"
	"'jobrun status JOB' shows where the raw files are.\n",
	.options = options,
	.more = choose_rows_plain,
	.more_offset = offsetof(struct logs_opts, choose),
	.lines = line_rows,
	.lines_offset = offsetof(struct logs_opts, lines),
	.remote = true,
	.run = run,
};
