/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdlib.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/choose.h"
#include "cmd/jobrun/ui/interrupt.h"
#include "cmd/jobrun/view/left.h"
#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/ui/visit.h"
#include "cmd/jobrun/ui/waiting.h"
#include "cmd/jobrun/view/waits.h"
#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/job/traits.h"
#include "core/supervise/supervisor.h"

/* How often to look whether a job that is about to start has done so. */
#define START_LOOK_MS 100

struct cancel_opts {
	bool now;
	bool yes;
	bool all;
	struct choose_opts choose;
};

static const struct opt options[] = {
	{ 0, "now", OPT_FLAG, offsetof(struct cancel_opts, now), NULL,
	  "send SIGKILL now, without the grace period" },
	{ 'y', "yes", OPT_FLAG, offsetof(struct cancel_opts, yes), NULL,
	  "do not ask before cancelling several runs" },
	CHOOSE_OTHERS(struct cancel_opts),
	{ 0 },
};

/* Asks one run to end; several runs are then waited for together. */
static int ask_one(struct session *session, struct run_record *record, bool now,
		   struct error *err)
{
	const struct provider *provider;
	struct resource resource = session_resource(record, &provider);
	void *ctx = provider ? session_context(session, provider, err) : NULL;
	int ret = ctx ? resource.kind->cancel(ctx, &resource, now, err) : -1;

	if (ret > 0)
		app_say(session->app, "%s: %s", record->job_id, err->text);
	return ret < 0 ? -1 : 0;
}

/* Asks a run to end, and waits for that. */
static int cancel(struct session *session, struct loop *loop, struct arena *mem,
		  struct run_record *record, bool now, struct error *err)
{
	return ask_one(session, record, now, err) < 0
		       ? -1
		       : waiting_run(session, loop, mem, record, -1,
				     interrupt_stop, loop, err);
}

/* Says what would be lost by a mistake, before the run ends. */
static void say_what_ends(const struct app *app, const struct run_record *run)
{
	char age[32];

	if (!run->start_time_ms) {
		app_say(app, "%s: cancelling attempt %d (%s), %s", run->job_id,
			run->attempt, run->provider,
			run_state_name(run->state));
		return;
	}
	duration_format((long)((time_now_ms() - run->start_time_ms) / 1000),
			age, sizeof(age));
	app_say(app, "%s: cancelling attempt %d (%s), %s for %s", run->job_id,
		run->attempt, run->provider, run_state_name(run->state), age);
}

/* Finds the run in its current state, or if its provider can end it without a
 * look, as recorded here. */
static int find(struct session *session, const char *job_id, struct arena *mem,
		struct run_record *out, struct error *err)
{
	const struct provider *provider;
	struct resource resource;

	if (session_known(session, job_id, 0, mem, out, err) < 0)
		return -1;
	resource = session_resource(out, &provider);
	if (provider && resource.kind->flags & KIND_CANCEL_FIRST)
		return 0;
	return session_run(session, job_id, 0, mem, out, err);
}

/* Ends other runs of this job, which a service that chooses names itself may
 * have. */
static int end_twins(struct session *session, const struct run_record *record,
		     struct error *err)
{
	const struct provider *provider;
	struct resource resource = session_resource(record, &provider);
	void *ctx;

	if (!provider || !(provider->traits & TRAIT_MANAGED))
		return 0;
	ctx = session_context(session, provider, err);
	return ctx ? resource.kind->cancel(ctx, &resource, false, err) : -1;
}

static int end_one(struct session *session, const char *job_id, bool now,
		   bool asked)
{
	struct arena *mem = arena_new();
	struct loop *loop = NULL;
	struct run_record record;
	struct error err;
	int status = -1;

	session = visit_of(session, job_id);
	if (find(session, job_id, mem, &record, &err) < 0)
		goto out;
	if (run_state_is_final(record.state)) {
		status = supervisor_end_left(session->env.store, &record, false,
					     LEFT_MS, &err) < 0 ||
					 (!asked &&
					  end_twins(session, &record, &err) < 0)
				 ? -1
				 : 0;
		if (status == 0)
			app_say(session->app, "%s: %s%s", record.job_id,
				asked ? "" : "already ",
				run_state_name(record.state));
		goto out;
	}
	loop = loop_new(&err);
	if (!loop)
		goto out;
	if (!asked)
		say_what_ends(session->app, &record);
	status = asked ? waiting_run(session, loop, mem, &record, -1,
				     interrupt_stop, loop, &err)
		       : cancel(session, loop, mem, &record, now, &err);
	if (status == 0)
		app_say(session->app, "%s: %s", record.job_id,
			run_state_name(record.state));
out:
	loop_free(loop);
	arena_free(mem);
	return status < 0 ? app_fail(session->app, &err) : status;
}

/* Asks all runs to end before waiting for the first. */
static int end_many(struct session *session, struct run_list *runs, bool now)
{
	bool *asked = mem_alloc((runs->count + 1) * sizeof(*asked));
	struct error err;
	int status = 0, one;
	size_t i;

	for (i = 0; i < runs->count && runs->count > 1; i++) {
		if (run_state_is_final(runs->items[i].state))
			continue;
		say_what_ends(session->app, &runs->items[i]);
		asked[i] = true;
		if (ask_one(visit_of(session, runs->items[i].job_id),
			    &runs->items[i], now, &err) < 0) {
			one = app_fail(session->app, &err);
			status = status ? status : one;
		}
	}
	for (i = 0; i < runs->count && status != ERROR_INTERRUPTED; i++) {
		one = end_one(session, runs->items[i].job_id, now, asked[i]);
		status = !status || one == ERROR_INTERRUPTED ? one : status;
	}
	free(asked);
	return status;
}

/* Waits until the process that starts the job has done so, and ends its run. */
static int end_started(struct session *session, const char *job_id, bool now)
{
	struct arena *mem = arena_new();
	struct wait_list waits = { 0 };
	struct error ignored;

	while (session_is_locked(session, job_id) &&
	       store_wait_list(session->env.store, mem, &waits, &ignored) ==
		       0 &&
	       waits_find(&waits, job_id))
		time_pause(START_LOOK_MS);
	arena_free(mem);
	return end_one(session, job_id, now, false);
}

/* Cancels a job that waits for others, so that it never starts. */
static int end_waiting(struct session *session, const struct wait_record *wait,
		       bool now)
{
	struct error err;
	int ret;

	if (waits_are_over(wait)) {
		app_say(session->app, "%s: already %s", wait->job_id,
			waits_state(wait));
		return 0;
	}
	ret = store_wait_cancel(session->env.store, wait->job_id, &err);
	if (ret < 0)
		return app_fail(session->app, &err);
	if (ret == 1)
		return end_started(session, wait->job_id, now);
	app_say(session->app, "%s: CANCELLED before it started", wait->job_id);
	return 0;
}

static int end_all_waiting(struct session *session,
			   const struct wait_list *waits, bool now)
{
	int status = 0, one;
	size_t i;

	for (i = 0; i < waits->count; i++) {
		one = end_waiting(session, &waits->items[i], now);
		status = status ? status : one;
	}
	return status;
}

/* Lists the jobs that wait and that a pattern selects, and asks. */
static bool confirm_waits(struct app *app, const struct choice *choice,
			  const struct wait_list *waits, bool yes)
{
	char question[96];
	struct error err;
	size_t i;

	if (!choice_is_open(choice) || !waits->count)
		return true;
	for (i = 0; i < waits->count; i++)
		app_say(app, "will cancel %s (not started, %s)",
			waits->items[i].job_id, waits->items[i].why);
	snprintf(question, sizeof(question), "Cancel %zu waiting job%s?",
		 waits->count, waits->count == 1 ? "" : "s");
	if (yes || app_confirm(app, question))
		return true;
	error_set(&err, ERROR_FAILED,
		  "refusing to cancel %zu waiting job%s without confirmation; "
		  "pass --yes",
		  waits->count, waits->count == 1 ? "" : "s");
	app_fail(app, &err);
	return false;
}

/* Keeps the chosen jobs that wait, and drops the earlier runs of these. */
static void choose_waiting(const struct choice *choice, struct wait_list *waits,
			   struct run_list *runs)
{
	size_t i, n = 0;

	choose_waits(choice, waits);
	for (i = 0; i < runs->count; i++)
		if (!waits_find(waits, runs->items[i].job_id))
			runs->items[n++] = runs->items[i];
	runs->count = n;
	if (!choice_is_open(choice))
		return;
	for (i = n = 0; i < waits->count; i++)
		if (!waits_are_over(&waits->items[i]))
			waits->items[n++] = waits->items[i];
	waits->count = n;
}

/* Drops ended runs, which a pattern also matches. */
static void keep_going(struct session *session, struct run_list *runs)
{
	size_t i, n = 0;

	for (i = 0; i < runs->count; i++)
		if (!run_state_is_final(runs->items[i].state) &&
		    !visit_has_ended(session, &runs->items[i]))
			runs->items[n++] = runs->items[i];
	runs->count = n;
}

/* Reads how visited runs have ended: only a run that goes on is asked to
 * end. */
static int find_ended(struct session *session, struct arena *mem,
		      const struct run_list *runs, struct error *err)
{
	size_t i;

	for (i = 0; i < runs->count; i++)
		if (visit_has_ended(session, &runs->items[i]) &&
		    session_refresh_one(
			    visit_of(session, runs->items[i].job_id), mem,
			    &runs->items[i], err) < 0)
			return -1;
	return 0;
}

static int run(struct app *app, int argc, char **argv)
{
	struct cancel_opts opts = { 0 };
	struct choice choice = { .opts = &opts.choose, .visits = true };
	struct session session = { 0 };
	struct arena *mem = arena_new();
	struct wait_list waits = { 0 };
	struct run_list runs;
	struct error err;
	int status = 0, one;
	int first;

	first = options_parse(app, &cmd_cancel, argc, argv, &opts, 0, INT_MAX,
			      &status);
	if (first < 0)
		goto out;
	choice_take(&choice, argc - first, argv + first);
	choice.others = opts.all;
	if (!choice_is_made(&choice)) {
		status = command_misused(app, &cmd_cancel,
					 "missing argument JOB...");
		goto out;
	}
	choice.waits = &waits;
	if (session_open(&session, app, 0, &err) < 0 ||
	    store_wait_list(session.env.store, mem, &waits, &err) < 0 ||
	    choose_visit(&session, &choice, &err) < 0 ||
	    choose_runs(&session, &choice, mem, &runs, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	choose_waiting(&choice, &waits, &runs);
	if (choice_is_open(&choice)) {
		keep_going(&session, &runs);
	} else if (find_ended(&session, mem, &runs, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	if (!runs.count && !waits.count)
		app_say(app, "nothing to cancel");
	if (!confirm_waits(app, &choice, &waits, opts.yes) ||
	    !choose_confirm(app, &choice, &runs, "cancel", opts.yes)) {
		status = ERROR_FAILED;
		goto out;
	}
	status = end_all_waiting(&session, &waits, opts.now);
	one = end_many(&session, &runs, opts.now);
	status = status ? status : one;
out:
	session_close(&session);
	arena_free(mem);
	return status;
}

const struct command cmd_cancel = {
	.name = "cancel",
	.group = GROUP_RUN,
	.args = "[--now] [--yes] [-l LABEL=VALUE] [--state LIST] JOB...",
	.summary = "stop runs: SIGTERM, the job's grace period, SIGKILL",
	.help = CHOOSE_HELP
	"Lists the runs that a pattern, a file or an option selects, and "
	"asks.  Waits\n"
	"until they have ended.  Of a run that has already ended, stops only "
	"what may\n"
	"still run on hosts that were cut off, if they answer.  A job that "
	"waits for\n"
	"others (jobrun.after) never starts.\n"
	"  jobrun cancel --yes -l team=vision 'train-*'\n",
	.options = options,
	.more = choose_rows,
	.more_offset = offsetof(struct cancel_opts, choose),
	.remote = true,
	.run = run,
};
