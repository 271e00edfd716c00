/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, plans, asks and executes; while runs go on, prints their output. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/plan_show.h"
#include "cmd/jobrun/ui/apply_checks.h"
#include "cmd/jobrun/view/follow.h"
#include "cmd/jobrun/view/keeping.h"
#include "cmd/jobrun/view/leaving.h"
#include "cmd/jobrun/view/line_style.h"
#include "cmd/jobrun/ui/job_order.h"
#include "cmd/jobrun/ui/load.h"
#include "cmd/jobrun/view/outcome.h"
#include "cmd/jobrun/view/progress.h"
#include "cmd/jobrun/ui/pruning.h"
#include "cmd/jobrun/ui/saved_plan.h"
#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/ui/takeback.h"
#include "cmd/jobrun/ui/unattended.h"
#include "cmd/jobrun/view/tally.h"
#include "cmd/jobrun/view/waits.h"
#include "core/apply/executor.h"

struct apply_opts {
	struct inputs inputs;
	bool detach;
	bool yes;
	bool dry_run;
	bool share_devices;
	long lock_timeout;
	const char *task;
	struct line_opts lines;
};

static const struct opt options[] = {
	{ 'd', "detach", OPT_FLAG, offsetof(struct apply_opts, detach), NULL,
	  "start the runs, do not follow them" },
	{ 'y', "yes", OPT_FLAG, offsetof(struct apply_opts, yes), NULL,
	  "do not ask" },
	{ 0, "dry-run", OPT_FLAG, offsetof(struct apply_opts, dry_run), NULL,
	  "only show the plan, like 'jobrun plan'" },
	{ 0, "lock-timeout", OPT_DURATION,
	  offsetof(struct apply_opts, lock_timeout), "DURATION",
	  "how long to wait for another jobrun on this job" },
	{ 0, "share-devices", OPT_FLAG,
	  offsetof(struct apply_opts, share_devices), NULL,
	  "also take GPUs that other processes use" },
	{ 0, "task", OPT_STRING, offsetof(struct apply_opts, task), "TYPE",
	  "only show master, worker, ps or evaluator" },
	{ 0 },
};

/* A run whose output is shown. */
struct shown {
	const struct action *action;
	struct follow *follow;
	struct progress *progress;
};

struct apply {
	struct app *app;
	struct session session;
	struct pruning pruning;
	struct tally *tally;
	struct loop *loop;
	struct executor *executor;
	struct shown *shown;
	size_t shown_count;
	struct leaving *leaving;
	struct follow_view view;
	int interrupted; /* 0, or the exit status */
	int status;      /* of failed runs that were reported */
	bool detach;
	bool told_closed;
	/* Detached, with jobs that are after others: this process goes on until
	 * those have started, without its caller. */
	bool keeps;
	struct unattended unattended;
	struct keeper keeper;
};

static struct shown *find_shown(struct apply *apply,
				const struct action *action)
{
	size_t i;

	for (i = 0; i < apply->shown_count; i++)
		if (apply->shown[i].action == action)
			return &apply->shown[i];
	return NULL;
}

/* Shows the output of a run that has started. */
static void show_run(struct apply *apply, const struct action *action)
{
	struct session *session = &apply->session;
	struct arena *mem;
	struct run_record run;
	struct follow *follow = NULL;
	struct error err;

	/* A run that is to be deleted is not shown. */
	if (!action_is_run(action) || !action->want ||
	    find_shown(apply, action) || action_is_elsewhere(action))
		return;
	mem = arena_new();
	/* While a run is replaced, the old one is not shown. */
	if (session_run(session, action->want->name, 0, mem, &run, &err) < 0 ||
	    !job_was_run(action->want->job, run.digest, run.digest2))
		goto out;
	/* Show every line since its first attempt: the run may have been
	 * restarted since it was planned or started. */
	app_say(apply->app,
		action->follow ? "%s: following attempt %d"
			       : "%s: attempt %d started",
		run.job_id, run.origin);
	/* With several jobs each line names its job. */
	if (plan_job_count(session->plan) > 1)
		apply->view.style.job = action->want->name;
	follow = follow_open(session, run.job_id, run.origin, 0, &apply->view,
			     &err);
	/* Runs of some providers have no logs here. */
	if (!follow && err.code == ERROR_USAGE)
		app_fail(apply->app, &err);
	if (follow && follow_start(follow, apply->loop, &err) < 0) {
		app_fail(apply->app, &err);
		follow_close(follow);
		follow = NULL;
	}
	apply->shown[apply->shown_count++] = (struct shown){
		.action = action,
		.follow = follow,
		.progress = progress_new(apply->app, session->env.store, &run,
					 apply->loop),
	};
out:
	arena_free(mem);
}

static void close_shown(struct apply *apply, const struct action *action)
{
	struct shown *shown = find_shown(apply, action);

	if (!shown)
		return;
	follow_close(shown->follow);
	shown->follow = NULL;
	progress_free(shown->progress);
	shown->progress = NULL;
}

static void end_run(struct apply *apply, const struct action *action,
		    const struct run_status *status)
{
	struct shown *shown = find_shown(apply, action);
	struct arena *mem = arena_new();
	struct run_record run;
	struct error err;

	if (shown && shown->follow &&
	    follow_step(shown->follow, true, &err) < 0)
		app_fail(apply->app, &err);
	close_shown(apply, action);
	if (action_is_elsewhere(action) ||
	    session_run(&apply->session, action->want->name, 0, mem, &run,
			&err) < 0) {
		/* Runs of some providers have no record here. */
		if (status)
			app_say(apply->app, "%s: %s", action->want->name,
				run_state_name(status->state));
	} else if (run_state_is_final(run.state)) {
		outcome_say(&apply->session, &run);
		if (outcome_status(&run))
			apply->status = outcome_status(&run);
	}
	arena_free(mem);
}

static void say_skipped(const struct apply *apply, const struct action *action,
			const struct error *err)
{
	const struct resource *one = action_resource(action);

	if (!err)
		app_say(apply->app, "%s '%s': not started", one->kind->name,
			one->name);
	else if (action_is_run(action))
		app_say(apply->app, "%s: %s: %s", action->job->job->job_id,
			err->code == ERROR_INTERRUPTED ? "CANCELLED"
						       : "SKIPPED",
			err->text);
}

/* Reports a run that has ended, or, detached, has started. */
static void run_done(struct apply *apply, const struct action *action,
		     const struct run_status *status)
{
	if (!action_is_run(action) || !action->want)
		return;
	if (!apply->detach)
		end_run(apply, action, status);
	else if (!apply->keeps)
		keeping_say_started(apply->app, action_resource(action)->name);
}

static void on_phase(void *arg, const struct action *action,
		     enum action_phase phase, const struct run_status *status,
		     const struct error *err)
{
	struct apply *apply = arg;
	const struct resource *one = action_resource(action);

	keeping_phase(&apply->keeper, action, phase, err);
	tally_phase(apply->tally, action, phase, status, err);
	if (leaving_phase(apply->leaving, action, phase, status)) {
		close_shown(apply, action);
		return;
	}
	switch (phase) {
	case PHASE_FOLLOWING:
		if (!apply->keeps)
			show_run(apply, action);
		break;
	case PHASE_RETRYING:
		app_say(apply->app, "%s '%s': %s; trying again",
			one->kind->name, one->name,
			err ? err->text : "no answer");
		break;
	case PHASE_DONE:
		if (err)
			app_say(apply->app,
				"%s '%s': done, but not recorded: %s; later "
				"plans cannot tell who changed it",
				one->kind->name, one->name, err->text);
		run_done(apply, action, status);
		break;
	case PHASE_FAILED:
		if (find_shown(apply, action))
			end_run(apply, action, status);
		break;
	case PHASE_SKIPPED:
		say_skipped(apply, action, err);
		break;
	case PHASE_WAITING:
	case PHASE_CALLING:
		break;
	}
	if (apply->app->out_closed && !apply->told_closed) {
		apply->told_closed = true;
		app_say(apply->app, "output closed; still following the run");
	}
}

static void on_waits(void *arg, const struct action *action, const char *what)
{
	struct apply *apply = arg;
	const struct resource *one = action_resource(action);

	app_say(apply->app, "%s '%s': %s", one->kind->name, one->name, what);
}

static void *context_of(void *arg, const struct provider *provider)
{
	struct apply *apply = arg;
	struct error ignored;

	return session_context(&apply->session, provider, &ignored);
}

/* Following a run for hours must not block others from changing its job. */
static void on_settled(void *arg, const struct plan_job *job)
{
	struct apply *apply = arg;

	keeping_settled(&apply->keeper, job);
	/* A deletion may concern several providers, and is never followed. */
	if (!job->job->file)
		return;
	lock_set_release(apply->session.locks, job->job->job_id);
}

static bool on_starts(void *arg, const struct action *action)
{
	struct apply *apply = arg;

	return keeping_may_start(&apply->keeper, action);
}

static int execute(struct apply *apply, struct error *err)
{
	struct journal journal = journal_in_store(apply->session.env.store);
	struct executor_options how = { .detach =
						apply->detach && !apply->keeps,
					.context = context_of,
					.phase = on_phase,
					.waits = on_waits,
					.starts = on_starts,
					.settled = on_settled,
					.journal = &journal,
					.arg = apply };
	size_t i, count = plan_count(apply->session.plan);
	int ret = -1;

	apply->shown = mem_alloc((count + 1) * sizeof(*apply->shown));
	apply->loop = loop_new(err);
	if (!apply->loop)
		goto out;
	apply->leaving =
		leaving_new(apply->app, apply->loop, apply->tally, count, err);
	if (!apply->leaving)
		goto out;
	keeping_begin(&apply->keeper, &apply->session, apply->tally,
		      apply->loop, apply->leaving,
		      apply->keeps ? &apply->unattended : NULL);
	apply->executor =
		executor_new(apply->session.plan, apply->loop, &how, err);
	if (apply->executor)
		leaving_attach(apply->leaving, apply->executor);
	if (apply->executor)
		keeping_attach(&apply->keeper, apply->executor);
	if (!apply->executor || executor_start(apply->executor, err) < 0 ||
	    loop_run(apply->loop, err) < 0)
		goto out;
	ret = executor_result(apply->executor, err);
	apply->interrupted = leaving_status(apply->leaving, ret == 0);
out:
	executor_free(apply->executor);
	for (i = 0; i < apply->shown_count; i++) {
		progress_free(apply->shown[i].progress);
		follow_close(apply->shown[i].follow);
	}
	free(apply->shown);
	keeping_done(&apply->keeper);
	leaving_free(apply->leaving);
	loop_free(apply->loop);
	return ret;
}

/* Plans with the jobs locked, so that nobody changes them until the end.
 * Returns 0 or the exit status. */
static int make_plan(struct apply *apply, const struct jobs *jobs,
		     const struct apply_opts *opts, const struct saved *saved)
{
	const char *targets[OPT_LIST_MAX];
	struct plan_options how = inputs_options(&opts->inputs, targets);
	struct session *session = &apply->session;
	struct pruning *pruning = &apply->pruning;
	struct app *app = apply->app;
	struct error err;
	int status;

	if (session_open(session, app, SESSION_CATALOGUE | SESSION_WRITE,
			 &err) < 0 ||
	    session_prices(session, opts->inputs.prices, &err) < 0)
		return app_fail(app, &err);
	session->env.boundary = &opts->inputs.load.boundary;
	session->env.take_over = opts->inputs.take_over;
	session->env.share_devices = opts->share_devices;
	if (pruning_find(pruning, session, jobs, &err) < 0)
		return saved_fail(app, saved, app_fail(app, &err));
	if (pruning_lock(pruning, jobs, opts->lock_timeout, &err) < 0)
		return app_fail(app, &err);
	session_plan(session, jobs, &how);
	status = session_fail_unplanned(session);
	if (status && (saved->plan || jobs->count == 1 || session->unordered))
		return saved_fail(app, saved, status);
	if (session_check_targets(session, &err) < 0 ||
	    pruning_plan(pruning, &err) < 0)
		return app_fail(app, &err);
	status = saved_check(app, saved, session);
	if (!status && session_resume(session, &err) < 0)
		status = app_fail(app, &err);
	return status;
}

static bool is_done(void *arg, const struct job *job)
{
	return tally_is_done(arg, job);
}

/* Applies the plan and reports the results.  Returns the exit status. */
static int carry_out(struct apply *apply, const struct jobs *jobs)
{
	struct session *session = &apply->session;
	const struct plan *plan = session->plan;
	struct error err;
	int status = 0;

	if (apply_take_over(session, &err) < 0 ||
	    pruning_remember(&apply->pruning, jobs, &err) < 0 ||
	    waits_begin(session, &err) < 0)
		return app_fail(apply->app, &err);
	apply->keeps = apply->unattended.fd >= 0 && waits_any(plan);
	apply->tally = tally_new(session, apply->detach);
	if ((!plan_is_empty(plan) ||
	     (!apply->detach && plan_follow_count(plan))) &&
	    execute(apply, &err) < 0) {
		struct error left;

		if (takeback(session, &left) < 0)
			app_fail(apply->app, &left);
		if (apply->interrupted)
			status = apply->interrupted;
		else if (tally_is_of_many(apply->tally))
			status = ERROR_FAILED; /* each is reported below */
		else
			/* The end of each run was reported when it happened. */
			status = apply->status ? apply->status
					       : app_fail(apply->app, &err);
	}
	if (!status)
		status = apply->interrupted;
	if (pruning_forget(&apply->pruning, is_done, apply->tally, &err) < 0)
		status = app_fail(apply->app, &err);
	tally_say(apply->tally);
	if (!status && tally_is_bad(apply->tally))
		status = ERROR_FAILED;
	tally_free(apply->tally);
	return status;
}

/* Plans, asks and applies; returns the exit status. */
static int apply_jobs(struct apply *apply, const struct jobs *jobs,
		      const struct apply_opts *opts, const struct saved *saved)
{
	struct app *app = apply->app;
	struct plan_style style = { .color = app->err_color,
				    .width = app->err_terminal ? app->width
							       : 0 };
	struct buf text = { 0 };
	int status = make_plan(apply, jobs, opts, saved);

	if (status)
		return status;
	plan_render_text(apply->session.plan, &style, &text);
	app_put_messages(app, &text);
	buf_done(&text);
	status = apply_check_missing(app, apply->session.plan);
	if (!status)
		status = apply_check_stores(app, apply->session.plan);
	if (!status)
		status = apply_ask(app, apply->session.plan, opts->yes);
	return status ? status : carry_out(apply, jobs);
}

static int run(struct app *app, int argc, char **argv)
{
	struct schema_options schema;
	struct apply_opts opts = { 0 };
	struct apply apply = { .app = app, .unattended.fd = -1 };
	struct inputs *inputs = &opts.inputs;
	struct saved saved = { 0 };
	struct jobs jobs = { 0 };
	struct error err;
	int status = 0;
	int first;

	first = options_parse(app, &cmd_apply, argc, argv, &opts, 1, INT_MAX,
			      &status);
	if (first < 0)
		return status;
	inputs->paths = argv + first;
	inputs->count = (size_t)(argc - first);
	apply.detach = opts.detach;
	apply.view = (struct follow_view){
		.tasks = { .type = opts.task },
		.filter = { .tail = SIZE_MAX },
		.style = line_style(&opts.lines, app),
	};
	if (sources_type(opts.task, &(enum task_type){ 0 }, &err) < 0)
		return app_fail(app, &err);
	if (saved_open(&saved, inputs, &err) < 0 ||
	    pruning_open(&apply.pruning, inputs, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	if (opts.dry_run) {
		status = plan_show(app, inputs);
		goto out;
	}
	if (load_options(&inputs->load, app, &schema, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	inputs->load.boundary.apply = true;
	if (opts.yes)
		inputs->load.boundary.connect = true;
	status = pruning_load(&apply.pruning, app, &schema, &jobs);
	if (status) {
		status = saved_fail(app, &saved, status);
		goto out;
	}
	if (opts.detach && job_order_has_any(&jobs)) {
		int parent = unattended_begin(&apply.unattended, &status, &err);

		if (parent) {
			status = parent < 0 ? app_fail(app, &err) : status;
			goto out;
		}
	}
	status = apply_jobs(&apply, &jobs, &opts, &saved);
out:
	session_close(&apply.session);
	pruning_done(&apply.pruning);
	jobs_done(&jobs);
	load_done(&inputs->load);
	saved_done(&saved);
	return status;
}

const struct command cmd_apply = {
	.name = "apply",
	.group = GROUP_RUN,
	.args = "[--detach] [--yes] [--dry-run] [--rerun] [--prune] "
		"[--take-over] "
		"[--lock-timeout DURATION] [--share-devices] "
		"PATH...|PLANFILE",
	.summary = "do what 'plan' shows, and follow the runs to their end",
	.help = PATH_HELP
	"; PLANFILE is a plan saved by 'plan --out'.\n\n"
	"Task output goes to standard output, everything else to standard "
	"error.\n"
	"Ctrl-C cancels a run on this machine (twice: kills it).  A run "
	"elsewhere\n"
	"continues unless you press Ctrl-C again within 3 seconds; SIGTERM "
	"leaves it at\n"
	"once, and a closed terminal leaves every run: 'jobrun apply' or "
	"'jobrun logs -f'\n"
	"follows it again.\n"
	"  jobrun apply job.yaml\n"
	"  jobrun apply --detach --yes jobs/\n",
	.options = options,
	.more = input_rows,
	.more_offset = offsetof(struct apply_opts, inputs),
	.lines = line_rows,
	.lines_offset = offsetof(struct apply_opts, lines),
	.shared = load_rows,
	.shared_offset = offsetof(struct apply_opts, inputs.load),
	.remote = true,
	.run = run,
};
