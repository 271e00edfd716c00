/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/cleanup.h"

#include "core/provider/listing.h"
#include "core/plan/decide.h"

bool cleanup_is_due(int cleanup, enum run_state state)
{
	switch (cleanup) {
	case CLEANUP_ALWAYS:
		return true;
	case CLEANUP_ON_SUCCESS:
		return state == RUN_SUCCEEDED;
	default:
		return false;
	}
}

static void take_along(const struct plan_job *planned, struct action **by_place,
		       struct arena *mem)
{
	size_t count = planned->action_count, i;
	const struct action *run = NULL;

	for (i = 0; i < count; i++)
		if (planned->actions[i]->want->kind->flags & KIND_RUN)
			run = planned->actions[i];
	if (!run || !run->have)
		return;
	/* What another owner's run uses is not this run's to delete. */
	for (i = 0; i < count; i++)
		if (planned->actions[i]->have &&
		    resource_is_held(planned->actions[i]->have))
			return;
	/* A run that is over waits for nothing, least of all for resources to
	 * be deleted. */
	if (rules_rests(run))
		by_place[run->want->index]->need_count = 0;
	for (i = 0; i < count; i++) {
		struct action *action =
			by_place[planned->actions[i]->want->index];

		if (!(action->want->kind->flags & KIND_FOR_RUN) ||
		    !action->have)
			continue;
		if (rules_rests(run) &&
		    cleanup_is_due(planned->job->jobrun.cleanup,
				   run->have->run.state)) {
			action->type = ACTION_DELETE;
			action->reason = arena_printf(
				mem, "the run has ended (cleanup: %s)",
				cleanup_name(planned->job->jobrun.cleanup));
			action->change_count = 0;
		} else if (run->type == ACTION_REPLACE &&
			   planned->job->jobrun.cleanup == CLEANUP_ALWAYS) {
			action->type = ACTION_REPLACE;
			action->reason = "deleted with its run";
		}
	}
}

/* Orders the actions: a deletion comes before the deletions of its needs, any
 * other action after them. */
static void reverse_deletions(const struct plan_job *planned,
			      struct action **by_place, struct arena *mem)
{
	size_t count = planned->action_count, i, j;

	for (i = 0; i < count; i++) {
		struct action *action =
			by_place[planned->actions[i]->want->index];

		if (action->type != ACTION_DELETE)
			continue;
		action->needs =
			arena_alloc(mem, count * sizeof(*action->needs));
		action->need_count = 0;
		for (j = 0; j < count; j++) {
			const struct action *other = planned->actions[j];
			const struct resource *want = other->want;
			size_t k;

			for (k = 0; k < want->need_count; k++)
				if (want->needs[k] == action->want &&
				    other->type == ACTION_DELETE)
					action->needs[action->need_count++] =
						other;
		}
	}
}

void cleanup_plan(const struct plan_job *planned, struct action **by_place,
		  struct arena *mem)
{
	take_along(planned, by_place, mem);
	reverse_deletions(planned, by_place, mem);
}
