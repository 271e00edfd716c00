/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/after.h"

#include <string.h>

#include "core/base/alloc.h"
#include "core/plan/decide.h"
#include "core/plan/plan.h"

static const struct after *rules_of(const struct job *job, size_t *count)
{
	*count = job->jobrun.after.count;
	return job->jobrun.after.items;
}

/* The action of the job's run, or NULL if the plan leaves it out. */
static struct action *run_of(const struct plan_job *job)
{
	size_t i;

	/* The actions belong to the plan that is being made. */
	for (i = job->action_count; i-- > 0;)
		if (action_is_run(job->actions[i]) && job->actions[i]->want)
			return (struct action *)job->actions[i];
	return NULL;
}

static const struct action *find_run(const struct after_jobs *before,
				     const char *job_id)
{
	size_t i;

	for (i = 0; i < before->count; i++)
		if (!strcmp(before->items[i]->job->job_id, job_id))
			return run_of(before->items[i]);
	return NULL;
}

/* Why nothing may start after this run, in words that follow its name; NULL:
 * it has succeeded or is still to end. */
static const char *why_never(const struct action *run)
{
	if (run->skipped)
		return "which is skipped";
	if (!rules_rests(run) || !run->have ||
	    run->have->run.state == RUN_SUCCEEDED)
		return NULL;
	return run->have->run.state == RUN_CANCELLED
		       ? "which was cancelled before"
		       : "which failed before";
}

void after_skip(const struct after_jobs *before, struct action *run,
		struct arena *mem)
{
	const struct after *rules;
	size_t i, count;

	rules = rules_of(run->job->job, &count);
	for (i = 0; i < count && run->type != ACTION_NOOP; i++) {
		const struct action *other = find_run(before, rules[i].job);
		const char *why = other ? why_never(other) : NULL;

		if (!why || rules[i].state == AFTER_ENDED)
			continue;
		run->type = ACTION_NOOP;
		run->skipped = true;
		run->change_count = 0;
		run->reason = arena_printf(mem, "skipped: after '%s', %s",
					   rules[i].job, why);
	}
}

static void add_need(struct action *action, const struct action *need,
		     struct arena *mem)
{
	size_t size = action->need_count * sizeof(*action->needs);
	const struct action **needs =
		arena_alloc(mem, size + sizeof(*action->needs));

	if (size)
		memcpy(needs, action->needs, size);
	needs[action->need_count++] = need;
	action->needs = needs;
}

void after_link(const struct after_jobs *before, const struct plan_job *planned,
		struct arena *mem)
{
	struct action *run = run_of(planned);
	const struct after *rules;
	const char *between = "; after";
	size_t i, j, count;

	rules = rules_of(planned->job, &count);
	if (!run || run->type == ACTION_NOOP)
		return;
	for (i = 0; i < count; i++) {
		const struct action *other = find_run(before, rules[i].job);

		if (!other)
			continue;
		for (j = 0; j < planned->action_count; j++)
			if (planned->actions[j]->type != ACTION_NOOP)
				add_need((struct action *)planned->actions[j],
					 other, mem);
		run->reason = arena_printf(mem, "%s%s '%s'", run->reason,
					   between, rules[i].job);
		between = " and";
	}
}

bool after_waits(const struct action *action)
{
	size_t i;

	for (i = 0; i < action->need_count; i++)
		if (action->needs[i]->job != action->job &&
		    !rules_rests(action->needs[i]))
			return true;
	return false;
}

bool after_takes_any_end(const struct action *later,
			 const struct action *before)
{
	const struct after *rules;
	size_t i, count;

	rules = rules_of(later->job->job, &count);
	for (i = 0; i < count; i++)
		if (!strcmp(rules[i].job, before->job->job->job_id))
			return rules[i].state == AFTER_ENDED;
	return false;
}
