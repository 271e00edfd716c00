/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/job/traits.h"
#include "core/provider/placeholder.h"
#include "core/plan/after.h"
#include "core/plan/cleanup.h"
#include "core/plan/compare.h"
#include "core/plan/order.h"
#include "core/plan/decide.h"
#include "core/plan/fields.h"
#include "core/plan/targets.h"

struct plan {
	struct arena *mem; /* owns jobs, actions and their strings */
	const struct plan_job **jobs;
	size_t job_count, job_room;
	const struct action **actions;
	size_t count, room;
	size_t totals[ACTION_TYPE_COUNT];
	size_t follow_count, drift_count, unknown_count;
	json_t *keep; /* array of the values that changes borrow */
	struct seal seal;
	struct targets *targets;
	struct estimate_total estimate;
};

const struct resource *action_resource(const struct action *action)
{
	return action->want ? action->want : action->have;
}

bool plan_job_is_self_made(const struct plan_job *job)
{
	const unsigned both = TRAIT_SUPERVISED | TRAIT_MAKES_MACHINES;
	size_t i;

	if ((job->provider->traits & both) != both)
		return false;
	for (i = 0; i < job->action_count; i++) {
		const struct action *one = job->actions[i];

		if (action_is_run(one) && one->want)
			return one->follow || one->type == ACTION_CREATE ||
			       one->type == ACTION_RUN ||
			       one->type == ACTION_UPDATE ||
			       one->type == ACTION_REPLACE;
	}
	return false;
}

bool action_is_elsewhere(const struct action *action)
{
	return action->follow && resource_is_held(action->have);
}

bool action_is_run(const struct action *action)
{
	return action_resource(action)->kind->flags & KIND_RUN;
}

struct plan *plan_new(void)
{
	struct plan *plan = mem_alloc(sizeof(*plan));

	plan->mem = arena_new();
	plan->keep = json_array();
	return plan;
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	free(plan->jobs);
	free(plan->actions);
	targets_free(plan->targets);
	estimate_total_done(&plan->estimate);
	seal_done(&plan->seal);
	json_decref(plan->keep);
	arena_free(plan->mem);
	free(plan);
}

/* Adds a finished job, which is part of the plan from here on. */
static void commit(struct plan *plan, const struct plan_job *job)
{
	size_t i;

	if (plan->job_count == plan->job_room) {
		plan->job_room = plan->job_room ? 2 * plan->job_room : 8;
		plan->jobs = mem_grow(plan->jobs, plan->job_room,
				      sizeof(*plan->jobs));
	}
	plan->jobs[plan->job_count++] = job;
	if (plan->room - plan->count < job->action_count) {
		plan->room = 2 * plan->room + job->action_count;
		plan->actions = mem_grow(plan->actions, plan->room,
					 sizeof(*plan->actions));
	}
	if (job->estimate)
		estimate_add(&plan->estimate, job->estimate);
	for (i = 0; i < job->action_count; i++) {
		const struct action *action = job->actions[i];

		plan->actions[plan->count++] = action;
		plan->totals[action->type]++;
		plan->follow_count += action->follow;
		plan->unknown_count += action->type != ACTION_NOOP &&
				       action->drift == DRIFT_UNKNOWN;
		plan->drift_count += action->type != ACTION_NOOP &&
				     (action->drift == DRIFT_CHANGED ||
				      action->drift == DRIFT_GONE);
	}
}

static struct plan_job *job_new(struct plan *plan,
				const struct provider *provider,
				const struct job *job,
				const struct resources *desired)
{
	struct plan_job *out = arena_alloc(plan->mem, sizeof(*out));

	out->job = job;
	out->provider = provider;
	out->desired = desired;
	out->actions =
		arena_alloc(plan->mem, desired->count * sizeof(*out->actions));
	return out;
}

static struct action *action_new(struct plan *plan, const struct plan_job *job,
				 const struct resource *resource)
{
	struct action *action = arena_alloc(plan->mem, sizeof(*action));

	action->job = job;
	action->index = plan->count + job->action_count;
	action->id = arena_printf(plan->mem, "%s/%s/%s", job->job->job_id,
				  resource->kind->name, resource->name);
	return action;
}

/* Whether a change needs an output of another resource that is not known
 * yet. */
static bool waits_for_others(const struct action *action)
{
	size_t i;

	for (i = 0; i < action->change_count; i++)
		if (placeholder_holds(action->changes[i].after,
				      PLACEHOLDER_OUTPUT))
			return true;
	return false;
}

static bool has_skipped(struct action **by_place, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (by_place[i]->skipped)
			return true;
	return false;
}

/*
 * A run that is over has no more needs: what was cleaned up after it is not
 * created again.  `spared` marks the resources that runs which are over need,
 * `wanted` those that others need.
 */
static void spare_unneeded(const struct resources *desired,
			   struct action **by_place, const size_t *order)
{
	unsigned char *wanted = mem_alloc(desired->count);
	unsigned char *spared = mem_alloc(desired->count);
	size_t i, j;

	for (i = desired->count; i-- > 0;) {
		size_t place = order[i];
		const struct resource *one = desired->items[place];
		struct action *action = by_place[place];
		bool rests = rules_rests(action) ||
			     (spared[place] && !wanted[place]);

		for (j = 0; j < one->need_count; j++) {
			unsigned char *marks = rests ? spared : wanted;

			marks[one->needs[j]->index] = 1;
		}
		if (rests && (action->type == ACTION_CREATE ||
			      waits_for_others(action))) {
			action->type = ACTION_NOOP;
			action->reason =
				has_skipped(by_place, desired->count)
					? "not needed: the run is skipped"
					: "not needed: the run has ended";
			action->change_count = 0;
			action->drift = DRIFT_NONE;
		}
	}
	free(wanted);
	free(spared);
}

static void link_needs(struct plan *plan, struct action *action,
		       struct action **by_place)
{
	const struct resource *want = action->want;
	size_t i;

	action->needs = arena_alloc(plan->mem,
				    want->need_count * sizeof(*action->needs));
	for (i = 0; i < want->need_count; i++)
		action->needs[i] = by_place[want->needs[i]->index];
	action->need_count = want->need_count;
}

/* Estimates the job, if its run will be started. */
static void estimate(struct plan *plan, struct plan_job *job,
		     const struct plan_options *options)
{
	const struct provider *provider = job->provider;
	struct estimate *out;
	bool starts = false;
	size_t i;

	for (i = 0; i < job->action_count; i++)
		if (job->actions[i]->type != ACTION_NOOP &&
		    job->actions[i]->want->kind->flags & KIND_RUN)
			starts = true;
	if (!starts || !options->catalogue || provider->ignores_machines)
		return;
	out = arena_alloc(plan->mem, sizeof(*out));
	if (estimate_job(job->job, options->catalogue, options->prices,
			 provider->slices ? provider->slices(job->job) : 1,
			 out) == 0)
		job->estimate = out;
}

int plan_add(struct plan *plan, const struct provider *provider,
	     const struct job *job, const struct resources *desired,
	     const struct resource *observed,
	     const struct plan_options *options, struct error *err)
{
	struct plan_job *planned = job_new(plan, provider, job, desired);
	size_t count = desired->count;
	size_t *order = mem_alloc(count * sizeof(*order));
	struct action **by_place = mem_alloc(count * sizeof(*by_place));
	struct compare compare = { .store = options->store,
				   .mem = plan->mem,
				   .keep = plan->keep,
				   .closed_secrets = options->closed_secrets,
				   .seal = &plan->seal,
				   .job = planned,
				   .by_place = by_place };
	const struct after_jobs before = { plan->jobs, plan->job_count };
	size_t i;
	int ret = -1;

	if (order_make(desired, order, err) < 0)
		goto out;
	for (i = 0; i < count; i++) {
		size_t place = order[i];
		struct action *action =
			action_new(plan, planned, desired->items[place]);

		action->want = desired->items[place];
		if (observed[place].exists)
			action->have = &observed[place];
		action->unseen = observed[place].unseen;
		by_place[place] = action;
		if (rules_decide(action, options, &compare, err) < 0)
			goto out;
		if (action_is_run(action))
			after_skip(&before, action, plan->mem);
		link_needs(plan, action, by_place);
		planned->actions[planned->action_count++] = action;
	}
	spare_unneeded(desired, by_place, order);
	cleanup_plan(planned, by_place, plan->mem);
	if (options->target_count) {
		if (!plan->targets)
			plan->targets = targets_new(options->targets,
						    options->target_count);
		targets_keep(plan->targets, planned, plan->count);
	}
	after_link(&before, planned, plan->mem);
	estimate(plan, planned, options);
	fields_find(planned, plan->mem, plan->keep);
	if (planned->action_count || !options->target_count)
		commit(plan, planned);
	ret = 0;
out:
	if (ret < 0)
		error_prefix(err, "job '%s'", job->job_id);
	free(order);
	free(by_place);
	return ret;
}

/* The deletions that must come before the deletion of one resource. */
struct before {
	const struct action **items;
	size_t count;
};

static void before_add(struct before *before, const struct action *action)
{
	if (!(before->count & (before->count - 1)))
		before->items = mem_grow(before->items,
					 before->count ? 2 * before->count : 1,
					 sizeof(*before->items));
	before->items[before->count++] = action;
}

static const char *reason_to_delete(const struct kind *kind,
				    const struct resource *have,
				    const char *reason, struct arena *mem)
{
	if ((kind->flags & KIND_RUN) && !run_state_is_final(have->run.state))
		return arena_printf(mem,
				    "%s; attempt %d is still running: will be "
				    "cancelled, then deleted",
				    reason, have->run.attempt);
	return arena_strdup(mem, reason);
}

static void add_deletion(struct plan *plan, struct plan_job *planned,
			 const struct resource *one,
			 const struct resource *have, struct before *before,
			 const char *reason)
{
	struct action *action = action_new(plan, planned, one);
	struct before *mine = &before[one->index];
	size_t size = mine->count * sizeof(*mine->items);
	size_t i;

	action->type = ACTION_DELETE;
	action->have = have;
	action->reason = reason_to_delete(one->kind, have, reason, plan->mem);
	action->needs = arena_alloc(plan->mem, size);
	action->need_count = mine->count;
	if (size)
		memcpy(action->needs, mine->items, size);
	for (i = 0; i < one->need_count; i++)
		before_add(&before[one->needs[i]->index], action);
	planned->actions[planned->action_count++] = action;
}

void plan_add_delete(struct plan *plan, const struct provider *provider,
		     const struct job *job, const struct resources *desired,
		     const struct resource *observed, const char *reason)
{
	struct plan_job *planned = job_new(plan, provider, job, desired);
	size_t count = desired->count;
	size_t *order = mem_alloc(count * sizeof(*order));
	struct before *before = mem_alloc(count * sizeof(*before));
	struct error ignored;
	size_t i;

	/* Resources in a cycle can still be deleted, in any order. */
	if (order_make(desired, order, &ignored) < 0)
		for (i = 0; i < count; i++)
			order[i] = i;
	for (i = count; i-- > 0;)
		if (observed[order[i]].exists)
			add_deletion(plan, planned, desired->items[order[i]],
				     &observed[order[i]], before, reason);
	commit(plan, planned);
	for (i = 0; i < count; i++)
		free(before[i].items);
	free(before);
	free(order);
}

size_t plan_job_count(const struct plan *plan)
{
	return plan->job_count;
}

const struct plan_job *plan_job_at(const struct plan *plan, size_t i)
{
	return plan->jobs[i];
}

size_t plan_count(const struct plan *plan)
{
	return plan->count;
}

const struct action *plan_at(const struct plan *plan, size_t i)
{
	return plan->actions[i];
}

size_t plan_total(const struct plan *plan, enum action_type type)
{
	return plan->totals[type];
}

int plan_check_targets(const struct plan *plan, struct error *err)
{
	return plan->targets ? targets_check(plan->targets, err) : 0;
}

size_t plan_target_count(const struct plan *plan)
{
	return plan->targets ? targets_count(plan->targets) : 0;
}

const char *plan_target_at(const struct plan *plan, size_t i)
{
	return targets_at(plan->targets, i);
}

const struct estimate_total *plan_estimate(const struct plan *plan)
{
	return plan->estimate.jobs ? &plan->estimate : NULL;
}

size_t plan_drift_count(const struct plan *plan, bool seen)
{
	return seen ? plan->drift_count : plan->unknown_count;
}

size_t plan_follow_count(const struct plan *plan)
{
	return plan->follow_count;
}

bool plan_is_empty(const struct plan *plan)
{
	return plan->count == plan->totals[ACTION_NOOP];
}

const char *action_type_name(enum action_type type)
{
	static const char *const names[ACTION_TYPE_COUNT] = {
		[ACTION_NOOP] = "noop",     [ACTION_CREATE] = "create",
		[ACTION_UPDATE] = "update", [ACTION_REPLACE] = "replace",
		[ACTION_DELETE] = "delete", [ACTION_RUN] = "run",
	};

	return names[type];
}
