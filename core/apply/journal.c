/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/journal.h"

#include <string.h>

static const struct resource *resource_of(const struct action *action)
{
	return action->want ? action->want : action->have;
}

static struct intent_record intent_of(const struct action *action)
{
	const struct resource *it = resource_of(action);

	return (struct intent_record){
		.job_id = action->job->job->job_id,
		.provider = action->job->provider->name,
		.kind = it->kind->name,
		.name = it->name,
		.action_id = action->id,
		.verb = action_type_name(action->type),
		.digest = action->job->job->digest.hex,
	};
}

static int begin(void *arg, const struct action *action, struct error *err)
{
	struct intent_record intent = intent_of(action);

	return store_intent_put(arg, &intent, err);
}

static void end(void *arg, const struct action *action,
		enum intent_outcome outcome, const struct error *why)
{
	struct intent_record intent = intent_of(action);
	struct error ignored;

	store_intent_end(arg, &intent, outcome, why ? why->text : NULL,
			 &ignored);
}

struct journal journal_in_store(struct store *store)
{
	return (struct journal){ .begin = begin, .end = end, .arg = store };
}

/* NULL with `*there` if the job is in the plan and lacks the resource. */
static const struct action *action_of(const struct intent_record *intent,
				      const struct plan *plan, bool *there)
{
	size_t i, j;

	*there = false;
	for (i = 0; i < plan_job_count(plan); i++) {
		const struct plan_job *job = plan_job_at(plan, i);

		if (strcmp(job->job->job_id, intent->job_id) != 0)
			continue;
		*there = true;
		if (strcmp(job->provider->name, intent->provider) != 0)
			continue;
		for (j = 0; j < job->action_count; j++) {
			const struct resource *it =
				resource_of(job->actions[j]);

			if (!strcmp(it->name, intent->name) &&
			    !strcmp(it->kind->name, intent->kind))
				return job->actions[j];
		}
	}
	return NULL;
}

enum intent_look intent_look(const struct intent_record *intent,
			     const struct plan *plan, const char **found)
{
	bool there;
	const struct action *action = action_of(intent, plan, &there);

	*found = "this job does not have it any more";
	if (!action)
		return there ? INTENT_STRAY : INTENT_OTHER;
	if (action->type == ACTION_NOOP) {
		*found = action->have ? "it exists"
				      : "it does not exist, nor is it needed";
		return INTENT_SETTLED;
	}
	if (!action->have)
		*found = "it does not exist yet";
	else if (action->type == ACTION_UPDATE ||
		 action->type == ACTION_REPLACE)
		*found = "it exists, not as wanted";
	else if (action->want && action->have->kind->flags & KIND_RUN)
		*found = "it was not started";
	else
		*found = "it exists";
	return INTENT_GOES_ON;
}
