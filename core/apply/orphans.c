/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/orphans.h"

#include <stdlib.h>
#include <string.h>

/* The job that owns a resource, judged by its runs. */
struct owner {
	bool exists; /* the job has a run */
	bool live;
	bool succeeded;
};

static int by_job(const void *a, const void *b)
{
	const struct listed *const *one = a, *const *other = b;

	return strcmp((*one)->labels.job_id, (*other)->labels.job_id);
}

/* Returns all runs, sorted by job. */
static const struct listed **find_runs(const struct listing *all, size_t *count)
{
	const struct listed **runs =
		mem_alloc((all->count + 1) * sizeof(struct listed *));
	size_t i, n = 0;

	for (i = 0; i < all->count; i++)
		if (all->items[i].kind->flags & KIND_RUN)
			runs[n++] = &all->items[i];
	if (n)
		qsort(runs, n, sizeof(*runs), by_job);
	*count = n;
	return runs;
}

/* A job may have runs in several places; one live run is enough. */
static struct owner find_owner(const struct listed *it,
			       const struct listed **runs, size_t count)
{
	struct owner owner = { 0 };
	const struct listed **found, **end = runs + count;

	found = count ? bsearch(&it, runs, count, sizeof(*runs), by_job) : NULL;
	if (!found)
		return owner;
	while (found > runs && by_job(found - 1, &it) == 0)
		found--;
	for (; found < end && by_job(found, &it) == 0; found++) {
		owner.exists = true;
		owner.live |= (*found)->live;
		owner.succeeded |= (*found)->succeeded;
	}
	return owner;
}

static bool is_kept(const struct listed *it, const struct owner *owner)
{
	if (it->labels.cleanup == CLEANUP_NEVER)
		return true;
	return it->labels.cleanup == CLEANUP_ON_SUCCESS && !owner->succeeded;
}

/* Whether a command that created this for a job was killed before it
 * finished. */
static bool was_killed(const struct listed *it,
		       const struct orphan_rules *rules)
{
	size_t i;

	for (i = 0; i < rules->open->count; i++) {
		const struct intent_record *one = &rules->open->items[i];

		if (!strcmp(one->job_id, it->labels.job_id) &&
		    !strcmp(one->provider, rules->provider) &&
		    it->create_time_ms <= one->time_ms + ORPHAN_AFTER_MS)
			return true;
	}
	return false;
}

static const char *judge_unused(const struct listed *it,
				const struct orphan_rules *rules)
{
	bool killed = was_killed(it, rules);
	int64_t age_ms = rules->now_ms - it->create_time_ms;

	/* A resource may have waited for days in a queue, and its place would
	 * be lost. */
	if (!killed && it->labels.waits && !rules->age_is_asked)
		return NULL;
	/* Another machine may renew the lease of this resource. */
	if (!killed && it->labels.renewed && it->labels.expire_time_ms)
		return NULL;
	if (it->create_time_ms &&
	    age_ms < (killed ? rules->young_killed_ms : rules->young_ms))
		return NULL;
	return killed ? "the command that created it was killed before it "
			"started a run"
		      : "no run of its job exists";
}

/* Returns why the resource is an orphan, or NULL. */
static const char *judge(const struct listed *it, const struct owner *owner,
			 const struct orphan_rules *rules)
{
	bool expired = it->labels.expire_time_ms &&
		       it->labels.expire_time_ms < rules->now_ms;

	if (owner->live)
		return NULL;
	if (expired)
		return "it has expired";
	if (!owner->exists)
		return judge_unused(it, rules);
	return is_kept(it, owner) ? NULL : "the run of its job has ended";
}

void orphans_find(const struct listing *all, const struct orphan_rules *rules,
		  struct orphans *out)
{
	size_t run_count, i;
	const struct listed **runs = find_runs(all, &run_count);

	*out = (struct orphans){ .items = mem_alloc((all->count + 1) *
						    sizeof(*out->items)) };
	for (i = 0; i < all->count; i++) {
		const struct listed *it = &all->items[i];
		struct owner owner;
		const char *why;

		if (it->kind->flags & KIND_RUN)
			continue;
		owner = find_owner(it, runs, run_count);
		why = judge(it, &owner, rules);
		if (why)
			out->items[out->count++] = (struct orphan){ it, why };
	}
	free(runs);
}

void orphans_done(struct orphans *orphans)
{
	free(orphans->items);
	*orphans = (struct orphans){ 0 };
}
