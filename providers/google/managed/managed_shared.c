/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that many looks share.  The jobs of a directory are planned one after
 * the other and followed side by side: see shared_list.h.
 */
#include "providers/google/managed/managed_internal.h"

#include <string.h>

#include "core/base/json.h"

/* How many pages of runs a list may have. */
#define PLAN_PAGES 10
#define FOLLOW_PAGES 2
/* A list is asked for at most as often as a single run would be. */
#define FRESH_MS (MANAGED_POLL_MS - 500)

void managed_shared_init(struct managed_shared *shared)
{
	/* The messages stay in memory, as they have the jobs' environments. */
	shared_lists_init(&shared->lists, NULL);
	pthread_mutex_init(&shared->lock, NULL);
	shared->kept = json_object();
}

void managed_shared_done(struct managed_shared *shared)
{
	shared_lists_done(&shared->lists);
	json_decref(shared->kept);
	pthread_mutex_destroy(&shared->lock);
}

void managed_forget(struct managed *managed)
{
	struct managed_shared *shared = &managed->shared;

	shared_lists_forget(&shared->lists);
	pthread_mutex_lock(&shared->lock);
	json_object_clear(shared->kept);
	pthread_mutex_unlock(&shared->lock);
}

json_t *managed_kept(struct managed *managed, const char *key)
{
	struct managed_shared *shared = &managed->shared;
	json_t *out;

	pthread_mutex_lock(&shared->lock);
	out = json_incref(json_object_get(shared->kept, key));
	pthread_mutex_unlock(&shared->lock);
	return out;
}

void managed_keep(struct managed *managed, const char *key, json_t *value)
{
	struct managed_shared *shared = &managed->shared;

	pthread_mutex_lock(&shared->lock);
	json_object_set_new(shared->kept, key, value);
	pthread_mutex_unlock(&shared->lock);
}

struct listing_of {
	struct managed *managed;
	const char *parent;
	size_t pages;
};

/* Lists the place's runs, for shared_lists_look(). */
static int list(void *arg, json_t **out, struct error *err)
{
	const struct listing_of *of = arg;
	struct managed_runs runs = { 0 };
	int ret = managed_find_some(of->managed, of->parent, NULL, of->pages,
				    &runs, err);

	if (ret == 0)
		*out = json_incref(runs.all);
	managed_runs_done(&runs);
	return ret;
}

int managed_find_shared(struct managed *managed, const char *parent,
			const char *job_id, struct managed_runs *out,
			struct error *err)
{
	struct listing_of of = { managed, parent, PLAN_PAGES };
	const struct shared_look look = {
		.place = parent,
		.name = job_id,
		.list = list,
		.arg = &of,
	};
	json_t *all = shared_lists_look(&managed->shared.lists, &look);

	if (!all)
		return managed_find(managed, parent, job_id, out, err);
	managed_pick(managed, all, job_id, out);
	json_decref(all);
	return 0;
}

json_t *managed_look_shared(struct managed *managed, const char *name)
{
	struct arena *mem = arena_new();
	const char *parent = managed_parent_of(name, mem);
	struct listing_of of = { managed, parent, FOLLOW_PAGES };
	const struct shared_look look = {
		.place = parent,
		.name = name,
		.recent_ms = 2 * MANAGED_POLL_MS,
		.fresh_ms = FRESH_MS,
		.list = list,
		.arg = &of,
	};
	json_t *all = shared_lists_look(&managed->shared.lists, &look);
	json_t *body, *out = NULL;
	size_t i;

	json_array_foreach(all, i, body)
	{
		if (!strcmp(managed_name(managed, parent, body, mem), name))
			out = json_incref(body);
	}
	json_decref(all);
	arena_free(mem);
	return out;
}
