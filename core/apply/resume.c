/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/resume.h"

#include <string.h>

#include "core/base/json.h"

static const struct plan_job *job_of(const struct intent_record *intent,
				     const struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan_job_count(plan); i++)
		if (!strcmp(plan_job_at(plan, i)->job->job_id, intent->job_id))
			return plan_job_at(plan, i);
	return NULL;
}

static const struct action *action_of(const struct intent_record *intent,
				      const struct plan_job *job)
{
	size_t i;

	if (strcmp(job->provider->name, intent->provider) != 0)
		return NULL;
	for (i = 0; i < job->action_count; i++) {
		const struct action *one = job->actions[i];
		const struct resource *it = action_resource(one);

		if (!strcmp(it->name, intent->name) &&
		    !strcmp(it->kind->name, intent->kind))
			return one;
	}
	return NULL;
}

/* Says what has become of the action, by its new plan; `left` is set if it goes
 * on. */
static const char *look_at(const struct action *action, bool *left)
{
	*left = action->type != ACTION_NOOP;
	if (!*left)
		return action->have ? "it exists"
				    : "it does not exist, and is not needed";
	if (!action->have)
		return "it does not exist; creating it now";
	if (action->type == ACTION_UPDATE || action->type == ACTION_REPLACE)
		return "it exists unchanged; changing it now";
	if (action->type == ACTION_DELETE)
		return "it exists; deleting it now";
	return "it was not started; starting it now";
}

/* Looks at a resource that the job no longer wants, so that no other code
 * does. */
static int look_at_stray(const struct intent_record *intent,
			 const struct plan_job *job,
			 const struct resume_options *options,
			 const char **found, bool *left, struct error *err)
{
	const struct provider *provider = job->provider;
	struct resource want = { .name = intent->name, .job = job->job };
	struct resource have;
	void *ctx = NULL;
	size_t i;

	*left = true;
	*found = "the job no longer uses that provider, and it may exist";
	if (strcmp(provider->name, intent->provider) != 0)
		return 0;
	for (i = 0; provider->kinds[i]; i++)
		if (!strcmp(provider->kinds[i]->name, intent->kind))
			want.kind = provider->kinds[i];
	if (want.kind)
		ctx = options->context(options->arg, provider);
	if (!ctx)
		return 0;
	have = want;
	if (want.kind->read(ctx, &want, &have, err) < 0)
		return error_prefix(err, "%s '%s'", intent->kind, intent->name);
	*left = have.exists;
	*found = have.exists ? "it exists, but the job no longer has it"
			     : "it does not exist";
	json_decref(have.properties);
	json_decref(have.outputs);
	return 0;
}

static bool is_followed(const struct plan_job *job)
{
	size_t i;

	for (i = 0; i < job->action_count; i++)
		if (job->actions[i]->follow)
			return true;
	return false;
}

static int look(struct store *store, const struct intent_record *intent,
		const struct plan *plan, const struct resume_options *options,
		struct error *err)
{
	const struct plan_job *job = job_of(intent, plan);
	const struct action *action;
	const char *found;
	bool left;

	/* The run itself handles the resources that it makes. */
	if (!job || (plan_job_is_self_made(job) && is_followed(job)))
		return 0;
	action = action_of(intent, job);
	if (action)
		found = look_at(action, &left);
	else if (look_at_stray(intent, job, options, &found, &left, err) < 0)
		return -1;
	if (options->say)
		options->say(options->arg, intent, found);
	return left ? 0
		    : store_intent_end(store, intent, INTENT_DONE, NULL, err);
}

int resume_look(struct store *store, const struct plan *plan,
		const struct resume_options *options, struct error *err)
{
	struct arena *mem = arena_new();
	struct intent_list open;
	size_t i;
	int ret = store_intent_list(store, mem, &open, err);

	for (i = 0; ret == 0 && i < open.count; i++)
		ret = look(store, &open.items[i], plan, options, err);
	arena_free(mem);
	return ret;
}

json_t *resume_progress(struct store *store, const char *plan,
			struct error *err)
{
	struct arena *mem = arena_new();
	json_t *out = NULL;
	struct intent_list all;
	size_t i;

	if (store_intent_of_plan(store, plan, mem, &all, err) == 0) {
		out = json_object();
		for (i = 0; i < all.count; i++)
			json_put_text(out, all.items[i].action_id,
				      all.items[i].outcome
					      ? all.items[i].outcome
					      : "open");
	}
	arena_free(mem);
	return out;
}
