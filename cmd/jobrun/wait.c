/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <time.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/choose.h"
#include "cmd/jobrun/ui/interrupt.h"
#include "cmd/jobrun/view/outcome.h"
#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/ui/visit.h"
#include "cmd/jobrun/ui/waiting.h"
#include "cmd/jobrun/view/waits.h"
#include "core/base/clock.h"
#include "core/base/units.h"

struct wait_opts {
	long timeout;
	bool all;
	struct choose_opts choose;
};

static const struct opt options[] = {
	{ 0, "timeout", OPT_DURATION, offsetof(struct wait_opts, timeout),
	  "DURATION", "give up after 90s, 10m, 2h ... (exit status 124)" },
	CHOOSE_OTHERS(struct wait_opts),
	{ 0 },
};

/* Returns the seconds left of the limit; -1 without a limit. */
static long left_of(long timeout, int64_t begun_ms)
{
	int64_t left = timeout - (time_monotonic_ms() - begun_ms) / 1000;

	return timeout < 0 ? -1 : left > 0 ? (long)left : 0;
}

/* Whether a job that is after others may still start. */
static bool may_start(struct session *session, const struct wait_record *wait)
{
	return !waits_are_over(wait) &&
	       session_is_locked(session, wait->job_id);
}

/* Reads which of the chosen jobs have not started; returns whether one of them
 * may still do so, or -1. */
static int look(struct session *session, const struct choice *choice,
		struct arena *mem, struct wait_list *out, struct error *err)
{
	size_t i;

	if (store_wait_list(session->env.store, mem, out, err) < 0)
		return -1;
	choose_waits(choice, out);
	for (i = 0; i < out->count; i++)
		if (may_start(session, &out->items[i]))
			return 1;
	return 0;
}

/*
 * Waits until each chosen job has started or will never do so, and lists in
 * `mem` those that have not.  Fails with ERROR_TIMEOUT, when `out` is empty.
 */
static int await_starts(struct session *session, const struct choice *choice,
			long timeout, int64_t begun_ms, struct arena *mem,
			struct wait_list *out, struct error *err)
{
	const struct timespec pause = { .tv_nsec = 200000000 };
	struct arena *look_mem = arena_new();
	int ret;

	while ((ret = look(session, choice, look_mem, out, err)) == 1) {
		if (left_of(timeout, begun_ms) == 0) {
			ret = error_set(err, ERROR_TIMEOUT,
					"%s still waits for others",
					out->items[0].job_id);
			break;
		}
		arena_free(look_mem);
		look_mem = arena_new();
		nanosleep(&pause, NULL);
	}
	arena_free(look_mem);
	*out = (struct wait_list){ 0 };
	/* The process may have ended between two looks, as its job is over. */
	return ret < 0 ? -1 : look(session, choice, mem, out, err) < 0 ? -1 : 0;
}

/* Says why jobs never started; returns the exit status, 0 without any. */
static int fail_waits(struct session *session, const struct wait_list *waits)
{
	struct error err;
	int status = 0;
	size_t i;

	for (i = 0; i < waits->count; i++) {
		const struct wait_record *wait = &waits->items[i];

		if (waits_are_over(wait))
			error_set(&err, ERROR_FAILED, "%s: %s: %s",
				  wait->job_id, waits_state(wait), wait->why);
		else
			error_set(&err, ERROR_FAILED,
				  "%s is to start %s, and the process that was "
				  "to start it is gone; run 'jobrun apply' "
				  "again",
				  wait->job_id, wait->why);
		status = app_fail(session->app, &err);
	}
	return status;
}

static int wait_for(struct session *session, const char *job_id, long timeout,
		    long left, struct error *err)
{
	struct arena *mem = arena_new();
	struct loop *loop = loop_new(err);
	struct run_record record;
	char limit[32];
	int status = -1;

	session = visit_of(session, job_id);
	if (!loop || session_run(session, job_id, 0, mem, &record, err) < 0)
		goto out;
	status = 0;
	if (waiting_is_needed(&record))
		status = waiting_run(session, loop, mem, &record, left,
				     interrupt_stop, loop, err);
	if (status == ERROR_TIMEOUT) {
		duration_format(timeout, limit, sizeof(limit));
		status = error_set(err, ERROR_TIMEOUT,
				   "%s is still %s after %s", record.job_id,
				   run_state_name(record.state), limit);
	} else if (status == 0) {
		outcome_say(session, &record);
		status = outcome_status(&record);
	}
out:
	loop_free(loop);
	arena_free(mem);
	return status < 0 ? app_fail(session->app, err) : status;
}

static int run(struct app *app, int argc, char **argv)
{
	struct wait_opts opts = { .timeout = -1 };
	struct choice choice = { .opts = &opts.choose, .visits = true };
	struct session session = { 0 };
	struct arena *mem = arena_new();
	int64_t begun_ms = time_monotonic_ms();
	struct wait_list waits = { 0 };
	struct strings names;
	struct error err;
	int status = 0;
	size_t i;
	int first;

	first = options_parse(app, &cmd_wait, argc, argv, &opts, 0, INT_MAX,
			      &status);
	if (first < 0)
		goto out;
	choice_take(&choice, argc - first, argv + first);
	choice.others = opts.all;
	if (!choice_is_made(&choice)) {
		status = command_misused(app, &cmd_wait,
					 "missing argument JOB...");
		goto out;
	}
	if (session_open(&session, app, 0, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	choice.waits = &waits;
	if (await_starts(&session, &choice, opts.timeout, begun_ms, mem, &waits,
			 &err) < 0 ||
	    choose_visit(&session, &choice, &err) < 0 ||
	    choose_names(&session, &choice, mem, &names, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	status = fail_waits(&session, &waits);
	/* All runs are waited for, except after an interrupt, and except an
	 * earlier one of a job that never started; the first that failed
	 * decides the exit status. */
	for (i = 0; i < names.count && status != ERROR_INTERRUPTED; i++) {
		int one;

		if (waits_find(&waits, names.items[i]))
			continue;
		one = wait_for(&session, names.items[i], opts.timeout,
			       left_of(opts.timeout, begun_ms), &err);

		status = !status || one == ERROR_INTERRUPTED ? one : status;
	}
out:
	session_close(&session);
	arena_free(mem);
	return status;
}

const struct command cmd_wait = {
	.name = "wait",
	.group = GROUP_WATCH,
	.args = "[--timeout DURATION] [-l LABEL=VALUE] [--state LIST] JOB...",
	.summary = "wait for runs to end; exit as they did (0 or 1)",
	.help = CHOOSE_HELP "With several, the first failure decides the exit "
			    "status.\n"
			    "  jobrun wait --timeout 2h quickstart\n",
	.options = options,
	.more = choose_rows,
	.more_offset = offsetof(struct wait_opts, choose),
	.remote = true,
	.run = run,
};
