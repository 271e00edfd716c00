/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/orphans.h"

#include <stdlib.h>
#include <string.h>

/* Of the job of a resource. */
struct owner {
	bool exists; /* a run of it does */
	bool live;
	bool succeeded;
};

static int by_job(const void *a, const void *b)
{
	const struct listed *const *one = a, *const *other = b;

	return strcmp((*one)->labels.job_id, (*other)->labels.job_id);
}

/* The runs, by job. */
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

/* A job may have several runs, in several places: one that lives counts. */
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

/* Why nobody needs it, or NULL. */
static const char *judge(const struct listed *it, const struct owner *owner,
			 int64_t now_ms, int64_t young_ms)
{
	bool expired =
		it->labels.expire_time_ms && it->labels.expire_time_ms < now_ms;

	if (owner->live)
		return NULL;
	if (expired)
		return "it has expired";
	if (!owner->exists && it->labels.renewed && it->labels.expire_time_ms)
		return NULL;
	if (!owner->exists)
		return it->create_time_ms &&
				       now_ms - it->create_time_ms < young_ms
			       ? NULL
			       : "no run of its job exists";
	return is_kept(it, owner) ? NULL : "the run of its job is over";
}

void orphans_find(const struct listing *all, int64_t now_ms, int64_t young_ms,
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
		why = judge(it, &owner, now_ms, young_ms);
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
