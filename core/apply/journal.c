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
