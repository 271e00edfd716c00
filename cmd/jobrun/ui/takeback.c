/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/takeback.h"

#include <stdlib.h>

#include "cmd/jobrun/ui/undo.h"
#include "core/plan/cleanup.h"

/* Chooses resources for the run, provided that the run does not go on. */
static bool choose(const struct plan_job *job, struct resource *observed)
{
	size_t i, count = job->desired->count;
	bool any = false;

	for (i = 0; i < count; i++)
		if (((observed[i].kind->flags & KIND_RUN) &&
		     observed[i].exists &&
		     !run_state_is_final(observed[i].run.state)) ||
		    resource_is_held(&observed[i]))
			return false;
	for (i = 0; i < count; i++) {
		if (!(observed[i].kind->flags & KIND_FOR_RUN))
			observed[i].exists = false;
		any |= observed[i].exists;
	}
	return any;
}

static bool makes_for_run(const struct plan_job *job)
{
	size_t i;

	for (i = 0; i < job->action_count; i++) {
		const struct action *action = job->actions[i];

		if (action->want &&
		    (action->want->kind->flags & KIND_FOR_RUN) &&
		    (action->type == ACTION_CREATE ||
		     action->type == ACTION_REPLACE))
			return true;
	}
	return false;
}

int takeback(struct session *session, struct error *err)
{
	size_t count = plan_job_count(session->plan), i;
	struct resource **observed =
		mem_alloc((count + 1) * sizeof(struct resource *));
	struct plan *plan = plan_new();
	int ret = 0;

	for (i = 0; i < count && ret == 0; i++) {
		const struct plan_job *job = plan_job_at(session->plan, i);
		void *ctx;

		if (!makes_for_run(job) ||
		    !cleanup_is_due(job->job->jobrun.cleanup, RUN_FAILED))
			continue;
		ctx = session_context(session, job->provider, err);
		observed[i] =
			ctx ? resources_read(job->desired, ctx, err) : NULL;
		if (!observed[i])
			ret = -1;
		else if (choose(job, observed[i]))
			plan_add_delete(plan, job->provider, job->job,
					job->desired, observed[i],
					"its run did not start");
	}
	if (ret == 0 && !plan_is_empty(plan)) {
		app_say(session->app, "deleting resources of runs that did not "
				      "start");
		ret = undo_execute(session, plan, NULL, NULL, err);
	}
	plan_free(plan);
	for (i = 0; i < count; i++)
		if (observed[i])
			resources_forget(
				observed[i],
				plan_job_at(session->plan, i)->desired->count);
	free(observed);
	return ret;
}
