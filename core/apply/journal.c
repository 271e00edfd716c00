/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/journal.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/plan/seal.h"

static struct intent_record intent_of(const struct action *action)
{
	const struct resource *it = action_resource(action);

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

static int begin(void *arg, const struct action *action,
		 char once[INTENT_ONCE_MAX], struct error *err)
{
	struct intent_record intent = intent_of(action);

	return store_intent_put(arg, &intent, once, err);
}

static struct applied_record record_of(const struct action *action,
				       const char *properties)
{
	const struct resource *it = action_resource(action);

	return (struct applied_record){
		.job_id = action->job->job->job_id,
		.provider = action->job->provider->name,
		.kind = it->kind->name,
		.name = it->name,
		.properties = properties,
	};
}

/* Returns the properties that may be stored, as a new string, or NULL. */
static char *sealed_text(struct store *store, const struct resource *want,
			 const json_t *properties, struct error *err)
{
	struct seal seal = { .ready = false };
	json_t *sealed;
	char *text;

	if (!seal_is_needed(want, NULL))
		return json_canonical(properties);
	if (seal_init(&seal, store, true, err) < 0)
		return NULL;
	sealed = seal_properties(&seal, want, NULL, properties, err);
	text = sealed ? json_canonical(sealed) : NULL;
	json_decref(sealed);
	seal_done(&seal);
	return text;
}

static int applied(void *arg, const struct action *action,
		   const struct resource *it, struct error *err)
{
	char *text = sealed_text(arg, action->want, it->properties, err);
	struct applied_record record;
	int ret;

	if (!text)
		return -1;
	record = record_of(action, text);
	ret = store_applied_put(arg, &record, 1, err);
	free(text);
	return ret;
}

int journal_adopt(struct store *store, const struct plan *plan,
		  struct error *err)
{
	struct applied_record *records =
		mem_alloc((plan_count(plan) + 1) * sizeof(*records));
	size_t i, n = 0;
	int ret = 0;

	for (i = 0; i < plan_count(plan) && ret == 0; i++) {
		const struct action *action = plan_at(plan, i);
		char *text;

		if (action->type != ACTION_NOOP || !action->have ||
		    action->drift != DRIFT_UNKNOWN)
			continue;
		text = sealed_text(store, action->want,
				   action->have->properties, err);
		if (text)
			records[n++] = record_of(action, text);
		else
			ret = -1;
	}
	if (ret == 0)
		ret = store_applied_put(store, records, n, err);
	for (i = 0; i < n; i++)
		free((char *)records[i].properties);
	free(records);
	return ret;
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
	return (struct journal){
		.begin = begin, .applied = applied, .end = end, .arg = store
	};
}
