/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/keeping.h"

#include <stdlib.h>
#include <unistd.h>

#include "cmd/jobrun/view/waits.h"
#include "core/base/alloc.h"
#include "core/plan/after.h"

/* How often to look whether a job that waits was cancelled. */
#define LOOK_MS 1000

/* Whether the caller waits until this run has begun. */
static bool begins_first(const struct action *action)
{
	return action_is_run(action) && action->want &&
	       (action->type != ACTION_NOOP || action->follow) &&
	       !after_waits(action);
}

void keeping_say_started(struct app *app, const char *name)
{
	app_say(app,
		"%s: started; 'jobrun logs -f %s' follows it, 'jobrun cancel "
		"%s' stops it",
		name, name, name);
}

void keeping_begin(struct keeper *it, const struct session *session,
		   struct tally *tally, struct loop *loop,
		   struct leaving *leaving, struct unattended *caller)
{
	size_t i, count = plan_count(session->plan);

	*it = (struct keeper){ .session = session,
			       .tally = tally,
			       .loop = loop,
			       .caller = caller };
	it->begun = mem_alloc((count + 1) * sizeof(*it->begun));
	it->over = mem_alloc((count + 1) * sizeof(*it->over));
	for (i = 0; i < count; i++)
		it->to_begin += begins_first(plan_at(session->plan, i));
	/* Whoever detaches wants what has started to go on. */
	if (caller)
		leaving_stay(leaving);
}

void keeping_done(struct keeper *it)
{
	free(it->begun);
	free(it->over);
}

/* Looks for jobs that were cancelled while they wait; returns whether any may
 * still be. */
static bool drop_cancelled(struct keeper *it)
{
	const struct plan *plan = it->session->plan;
	struct arena *mem = arena_new();
	struct wait_list waits = { 0 };
	const struct wait_record *wait;
	struct error ignored;
	bool any = false;
	size_t i;

	/* What can't be read now is read at the next look. */
	store_wait_list(it->session->env.store, mem, &waits, &ignored);
	for (i = 0; i < plan_count(plan); i++) {
		const struct action *action = plan_at(plan, i);

		if (!action_is_run(action) || !after_waits(action) ||
		    it->over[i])
			continue;
		any = true;
		wait = waits_find(&waits, action->job->job->job_id);
		if (wait && wait->cancelled)
			executor_drop(it->executor, wait->job_id);
	}
	arena_free(mem);
	return any;
}

static void on_look(void *arg, uint32_t events)
{
	struct keeper *it = arg;

	(void)events;
	if (drop_cancelled(it))
		loop_add_timer(it->loop, LOOK_MS, on_look, it);
}

void keeping_attach(struct keeper *it, struct executor *executor)
{
	it->executor = executor;
	if (waits_any(it->session->plan))
		loop_add_timer(it->loop, LOOK_MS, on_look, it);
}

bool keeping_may_start(struct keeper *it, const struct action *action)
{
	const char *job_id = action->job->job->job_id;
	struct error lost;
	int ret = store_wait_claim(it->session->env.store, job_id, &lost);

	if (ret < 0)
		app_fail(it->session->app, &lost);
	return ret <= 0 || !waits_is_cancelled(it->session, job_id);
}

/* Lets the caller go: what is left to start waits for the ends of runs. */
static void on_all_begun(void *arg, uint32_t events)
{
	struct keeper *it = arg;
	const struct plan *plan = it->session->plan;
	bool failed;
	size_t i;

	(void)events;
	for (i = 0; i < plan_count(plan); i++) {
		const struct action *action = plan_at(plan, i);

		if (action_is_run(action) && after_waits(action) &&
		    !it->over[i])
			app_say(it->session->app,
				"%s: QUEUED: %s; process %ld starts it",
				action->job->job->job_id, action->reason,
				(long)getpid());
	}
	failed = it->failed || tally_is_bad(it->tally);
	unattended_release(it->caller, failed ? ERROR_FAILED : 0);
}

/* Notes that a run has started, or will not. */
static void note_begun(struct keeper *it, const struct action *action,
		       bool failed)
{
	bool *begun = &it->begun[action->index];

	if (!it->caller || *begun || !begins_first(action))
		return;
	*begun = true;
	it->failed = it->failed || failed;
	if (!failed && !action->follow)
		keeping_say_started(it->session->app,
				    action_resource(action)->name);
	if (--it->to_begin == 0)
		loop_add_timer(it->loop, 0, on_all_begun, it);
}

void keeping_phase(struct keeper *it, const struct action *action,
		   enum action_phase phase, const struct error *err)
{
	struct error lost;

	if (waits_phase(it->session, action, phase, err, &lost) < 0)
		app_fail(it->session->app, &lost);
	it->over[action->index] = phase >= PHASE_DONE;
	if (phase >= PHASE_DONE)
		note_begun(it, action, phase != PHASE_DONE);
}

void keeping_settled(struct keeper *it, const struct plan_job *job)
{
	struct error lost;
	size_t i;

	for (i = 0; i < job->action_count; i++) {
		const struct action *action = job->actions[i];

		/* How a run ended was noted when it did. */
		if (!action_is_run(action) || it->over[action->index])
			continue;
		if (waits_end(it->session, action, &lost) < 0)
			app_fail(it->session->app, &lost);
		note_begun(it, action, false);
	}
}
