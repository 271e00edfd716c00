/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers that many looks share.  The jobs of a directory are planned one after
 * the other and followed side by side; from the third one on, all runs of a
 * place are listed together.  A place with too many old runs is not listed.
 */
#include "core/base/clock.h"
#include "providers/google/managed/managed_internal.h"

#include <string.h>

#include "core/base/json.h"

/* The number of jobs from which on a list is cheaper. */
#define MANY 3
/* How many pages of runs a list may have. */
#define PLAN_PAGES 10
#define FOLLOW_PAGES 2
/* A list is asked for at most as often as a single run would be. */
#define FRESH_MS (MANAGED_POLL_MS - 500)

void managed_shared_init(struct managed_shared *shared)
{
	pthread_mutex_init(&shared->lock, NULL);
	shared->places = json_object();
	shared->kept = json_object();
}

void managed_shared_done(struct managed_shared *shared)
{
	json_decref(shared->places);
	json_decref(shared->kept);
	pthread_mutex_destroy(&shared->lock);
}

void managed_forget(struct managed *managed)
{
	struct managed_shared *shared = &managed->shared;

	pthread_mutex_lock(&shared->lock);
	json_object_clear(shared->places);
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

/* What is known of a place: {"seen": {NAME: when}, "list", "atMs", "long"}. */
static json_t *find_place(struct managed_shared *shared, const char *parent)
{
	json_t *place = json_object_get(shared->places, parent);

	if (!place) {
		place = json_object();
		json_object_set_new(place, "seen", json_object());
		json_object_set_new(shared->places, parent, place);
	}
	return place;
}

/* Notes a look at one of the place's runs; returns how many there are that were
 * looked at since. */
static size_t note_look(json_t *place, const char *name, int64_t since_ms)
{
	json_t *seen = json_object_get(place, "seen"), *value;
	const char *key;
	void *next;

	json_object_set_new(seen, name, json_integer(time_monotonic_ms()));
	json_object_foreach_safe(seen, next, key, value)
	{
		if (json_integer_value(value) < since_ms)
			json_object_del(seen, key);
	}
	return json_object_size(seen);
}

/* Lists the place's runs, unless that was done since `since_ms`.  1: they are
 * too many. */
static int list(struct managed *managed, json_t *place, const char *parent,
		size_t pages, int64_t since_ms, struct error *err)
{
	struct managed_runs runs = { 0 };
	int ret;

	if (json_object_get(place, "long"))
		return 1;
	if (json_object_get(place, "list") &&
	    json_get_int(place, "atMs", 0) >= since_ms)
		return 0;
	ret = managed_find_some(managed, parent, NULL, pages, &runs, err);
	if (ret == 0) {
		json_object_set(place, "list", runs.all);
		json_object_set_new(place, "atMs",
				    json_integer(time_monotonic_ms()));
	} else if (ret == 1) {
		json_object_set_new(place, "long", json_true());
	}
	managed_runs_done(&runs);
	return ret;
}

int managed_find_shared(struct managed *managed, const char *parent,
			const char *job_id, struct managed_runs *out,
			struct error *err)
{
	struct managed_shared *shared = &managed->shared;
	json_t *place;
	int ret = 1;

	pthread_mutex_lock(&shared->lock);
	place = find_place(shared, parent);
	if (note_look(place, job_id, 0) >= MANY)
		ret = list(managed, place, parent, PLAN_PAGES, 0, err);
	if (ret == 0)
		managed_pick(managed, json_object_get(place, "list"), job_id,
			     out);
	pthread_mutex_unlock(&shared->lock);
	return ret == 1 ? managed_find(managed, parent, job_id, out, err) : ret;
}

json_t *managed_look_shared(struct managed *managed, const char *name)
{
	struct managed_shared *shared = &managed->shared;
	struct arena *mem = arena_new();
	const char *parent = managed_parent_of(name, mem);
	int64_t now_ms = time_monotonic_ms();
	json_t *place, *body, *out = NULL;
	struct error ignored;
	size_t i;

	pthread_mutex_lock(&shared->lock);
	place = find_place(shared, parent);
	if (note_look(place, name, now_ms - 2 * MANAGED_POLL_MS) >= MANY &&
	    list(managed, place, parent, FOLLOW_PAGES, now_ms - FRESH_MS,
		 &ignored) == 0)
		json_array_foreach(json_object_get(place, "list"), i, body)
		{
			if (!strcmp(managed_name(managed, parent, body, mem),
				    name))
				out = json_incref(body);
		}
	pthread_mutex_unlock(&shared->lock);
	arena_free(mem);
	return out;
}
