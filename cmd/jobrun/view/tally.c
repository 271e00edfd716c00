/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/tally.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

#define NAMED_MAX 50 /* failed ones named; others are counted */

enum result {
	RESULT_UNCHANGED, /* there was nothing to do */
	RESULT_STARTED,
	RESULT_SUCCEEDED,
	RESULT_DELETED,
	RESULT_NOT_DONE, /* interrupted before its turn */
	RESULT_SKIPPED,  /* after one that failed */
	RESULT_FAILED,
	RESULT_COUNT,
};

struct tally_entry {
	bool done;
	bool left;    /* left running by itself */
	bool stopped; /* parts of it are still to be done */
	bool skipped; /* after a job that failed */
	char *why;    /* why it failed; NULL: it did not */
};

struct tally {
	const struct session *session;
	bool detach;
	struct tally_entry *entries; /* by index of the action */
};

struct tally *tally_new(const struct session *session, bool detach)
{
	struct tally *tally = mem_alloc(sizeof(*tally));

	tally->session = session;
	tally->detach = detach;
	tally->entries = mem_alloc((plan_count(session->plan) + 1) *
				   sizeof(*tally->entries));
	return tally;
}

void tally_free(struct tally *tally)
{
	size_t i;

	if (!tally)
		return;
	for (i = 0; i < plan_count(tally->session->plan); i++)
		free(tally->entries[i].why);
	free(tally->entries);
	free(tally);
}

void tally_leave(struct tally *tally, const struct action *action)
{
	tally->entries[action->index].left = true;
}

void tally_phase(struct tally *tally, const struct action *action,
		 enum action_phase phase, const struct run_status *status,
		 const struct error *err)
{
	struct tally_entry *entry = &tally->entries[action->index];

	entry->done = phase == PHASE_DONE;
	/* A run that failed has ended, so nothing of it is left to do. */
	entry->skipped = phase == PHASE_SKIPPED && err;
	entry->stopped = (phase == PHASE_SKIPPED && !err) ||
			 (phase == PHASE_FAILED && !status);
	if (phase == PHASE_FAILED && !entry->why)
		entry->why = mem_strdup(err->text);
}

/* Whether a run that is left unchanged has failed or was cancelled. */
static bool has_failed(const struct action *action)
{
	return action->type == ACTION_NOOP && action->have &&
	       (action->have->kind->flags & KIND_RUN) &&
	       (action->have->run.state == RUN_FAILED ||
		action->have->run.state == RUN_CANCELLED);
}

/* Returns why the job failed, or NULL. */
static const char *reason_of(const struct tally *tally,
			     const struct plan_job *job)
{
	size_t i;

	for (i = 0; i < job->action_count; i++) {
		const struct action *action = job->actions[i];

		if (tally->entries[action->index].why)
			return tally->entries[action->index].why;
		if (has_failed(action))
			return action->reason;
	}
	return NULL;
}

static enum result result_of(const struct tally *tally,
			     const struct plan_job *job)
{
	enum result result = RESULT_UNCHANGED;
	size_t i;

	if (reason_of(tally, job))
		return RESULT_FAILED;
	for (i = 0; i < job->action_count; i++) {
		const struct action *action = job->actions[i];

		if (action->skipped || tally->entries[action->index].skipped)
			return RESULT_SKIPPED;
		if (action->type == ACTION_NOOP && !action->follow)
			continue;
		if (!tally->entries[action->index].done)
			return RESULT_NOT_DONE;
		if (action->type == ACTION_DELETE)
			result = RESULT_DELETED;
		else
			result = tally->detach || tally->entries[action->index]
							  .left
					 ? RESULT_STARTED
					 : RESULT_SUCCEEDED;
	}
	return result;
}

bool tally_is_done(const struct tally *tally, const struct job *job)
{
	const struct plan *plan = tally->session->plan;
	enum result result;
	size_t i;

	for (i = 0; i < plan_job_count(plan); i++) {
		if (plan_job_at(plan, i)->job != job)
			continue;
		result = result_of(tally, plan_job_at(plan, i));
		return result != RESULT_NOT_DONE && result != RESULT_FAILED &&
		       result != RESULT_SKIPPED;
	}
	return false;
}

static size_t count(const struct tally *tally, enum result result)
{
	const struct plan *plan = tally->session->plan;
	size_t i, n = 0;

	for (i = 0; i < plan_job_count(plan); i++)
		n += result_of(tally, plan_job_at(plan, i)) == result;
	return result == RESULT_FAILED ? n + tally->session->unplanned_count
				       : n;
}

bool tally_is_bad(const struct tally *tally)
{
	return count(tally, RESULT_FAILED) || count(tally, RESULT_SKIPPED);
}

static size_t job_count(const struct tally *tally)
{
	return plan_job_count(tally->session->plan) +
	       tally->session->unplanned_count;
}

bool tally_is_of_many(const struct tally *tally)
{
	return job_count(tally) > 1;
}

/* Repeats the failures, as the first report may be hours ago. */
static void say_failed(const struct tally *tally)
{
	const struct session *session = tally->session;
	const struct plan *plan = session->plan;
	size_t i, n = 0;

	for (i = 0; i < session->unplanned_count && n < NAMED_MAX; i++, n++)
		app_say(session->app, "  failed: %s",
			session->unplanned[i].why.text);
	for (i = 0; i < plan_job_count(plan) && n < NAMED_MAX; i++) {
		const struct plan_job *job = plan_job_at(plan, i);
		const char *why = reason_of(tally, job);

		if (!why)
			continue;
		app_say(session->app, "  failed: job '%s': %s",
			job->job->job_id, why);
		n++;
	}
	if (count(tally, RESULT_FAILED) > n)
		app_say(session->app, "  and %zu more: 'jobrun status'",
			count(tally, RESULT_FAILED) - n);
}

/* Says how to go on. */
static void say_stopped(const struct tally *tally)
{
	const struct plan *plan = tally->session->plan;
	const char *job_id = NULL;
	size_t i, jobs = 0;

	for (i = 0; i < plan_count(plan); i++) {
		const struct action *action = plan_at(plan, i);

		if (!tally->entries[i].stopped)
			continue;
		jobs += !job_id || job_id != action->job->job->job_id;
		job_id = action->job->job->job_id;
	}
	if (!jobs)
		return;
	app_say(tally->session->app,
		"completed steps are kept: run the same 'jobrun apply' to "
		"resume, or 'jobrun delete %s' to undo them",
		jobs == 1 ? job_id : "JOB");
}

static void say_jobs(const struct tally *tally)
{
	static const char *const words[RESULT_COUNT] = {
		[RESULT_UNCHANGED] = "unchanged", [RESULT_STARTED] = "started",
		[RESULT_SUCCEEDED] = "succeeded", [RESULT_DELETED] = "deleted",
		[RESULT_NOT_DONE] = "not done",   [RESULT_FAILED] = "failed",
		[RESULT_SKIPPED] = "skipped",
	};
	static const enum result order[] = {
		RESULT_SUCCEEDED, RESULT_STARTED, RESULT_DELETED,
		RESULT_FAILED,    RESULT_SKIPPED, RESULT_NOT_DONE,
		RESULT_UNCHANGED,
	};
	struct buf text = { 0 };
	size_t i, n;

	if (!tally_is_of_many(tally) ||
	    count(tally, RESULT_UNCHANGED) == job_count(tally))
		return;
	for (i = 0; i < COUNT(order); i++) {
		n = count(tally, order[i]);
		if (n)
			buf_printf(&text, "%s%zu %s", text.len ? ", " : "", n,
				   words[order[i]]);
	}
	app_say(tally->session->app, "%zu jobs: %s", job_count(tally),
		buf_text(&text));
	buf_done(&text);
	say_failed(tally);
}

void tally_say(const struct tally *tally)
{
	say_jobs(tally);
	say_stopped(tally);
}
