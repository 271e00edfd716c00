/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/job_order.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/plan/order.h"

static int by_name(const void *one, const void *other)
{
	const struct resource *const *a = one, *const *b = other;

	return strcmp((*a)->name, (*b)->name);
}

bool job_order_has_any(const struct jobs *jobs)
{
	size_t i;

	for (i = 0; i < jobs->count; i++)
		if (jobs->items[i]->jobrun.after.count)
			return true;
	return false;
}

/* Lets each job need those that it is after.  `sorted` are all of them, by
 * name. */
static void add_needs(struct resources *all, struct resource **sorted)
{
	size_t i, j;

	for (i = 0; i < all->count; i++) {
		const struct messages *list = &all->items[i]->job->jobrun.after;
		const struct after *rules = list->items;

		for (j = 0; j < list->count; j++) {
			struct resource key = { .name = rules[j].job };
			const struct resource *at = &key;
			struct resource **found =
				bsearch(&at, sorted, all->count,
					sizeof(struct resource *), by_name);

			if (found)
				resource_needs(all, all->items[i], *found);
		}
	}
}

int job_order_make(const struct jobs *jobs, size_t *order, struct error *err)
{
	struct resource **sorted;
	struct resources *all;
	size_t i;
	int ret;

	for (i = 0; i < jobs->count; i++)
		order[i] = i;
	if (!job_order_has_any(jobs))
		return 0;
	all = resources_new();
	for (i = 0; i < jobs->count; i++)
		resources_add(all, NULL, jobs->items[i]->job_id,
			      jobs->items[i]);
	sorted = mem_alloc((all->count + 1) * sizeof(struct resource *));
	memcpy(sorted, all->items, all->count * sizeof(struct resource *));
	qsort(sorted, all->count, sizeof(struct resource *), by_name);
	add_needs(all, sorted);
	ret = order_make(all, order, err);
	if (ret < 0)
		error_prefix(err, "jobrun.after");
	free(sorted);
	resources_free(all);
	return ret;
}

static bool is_planned(const struct plan *plan, const char *job_id)
{
	size_t i, j;

	for (i = 0; i < plan_job_count(plan); i++) {
		const struct plan_job *job = plan_job_at(plan, i);

		if (strcmp(job->job->job_id, job_id) != 0)
			continue;
		for (j = 0; j < job->action_count; j++)
			if (action_is_run(job->actions[j]))
				return true;
	}
	return false;
}

static bool is_unplanned(const struct session *session, const char *job_id)
{
	size_t i;

	for (i = 0; i < session->unplanned_count; i++)
		if (!strcmp(session->unplanned[i].job_id, job_id))
			return true;
	return false;
}

/* Looks for the run of a job that none of the files has. */
static int check_recorded(const struct session *session,
			  const struct after *rule, struct resources *desired,
			  struct error *err)
{
	struct arena *mem = arena_new();
	struct run_record run = { 0 };
	int ret = session->env.store
			  ? store_run_get(session->env.store, rule->job, 0, mem,
					  &run, err)
			  : 1;

	if (ret == 1)
		resources_miss(desired,
			       "the job '%s' (jobrun.after), which never ran "
			       "here: name its file too",
			       rule->job);
	else if (ret == 0 && !run_state_is_final(run.state))
		resources_miss(desired,
			       "the job '%s' (jobrun.after), which is %s: name "
			       "its file too, or wait for it",
			       rule->job, run_state_name(run.state));
	else if (ret == 0 && rule->state == AFTER_SUCCEEDED &&
		 run.state != RUN_SUCCEEDED)
		resources_miss(desired,
			       "the job '%s' (jobrun.after), which has %s",
			       rule->job, run_state_name(run.state));
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}

int job_order_check(const struct session *session, const struct job *job,
		    struct resources *desired, struct error *err)
{
	const struct after *rules = job->jobrun.after.items;
	size_t i;

	for (i = 0; i < job->jobrun.after.count; i++) {
		if (is_planned(session->plan, rules[i].job))
			continue;
		if (is_unplanned(session, rules[i].job))
			return error_set(err, ERROR_FAILED,
					 "skipped: after '%s', which can't be "
					 "planned",
					 rules[i].job);
		if (check_recorded(session, &rules[i], desired, err) < 0)
			return -1;
	}
	return 0;
}
