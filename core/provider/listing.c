/* SPDX-License-Identifier: Apache-2.0 */
#include "core/provider/listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long after its expiry a run may take to stop, save and be deleted. */
#define EXPIRE_SLACK_S 3600

static const char *const cleanup_names[] = {
	[CLEANUP_ALWAYS] = "always",
	[CLEANUP_ON_SUCCESS] = "on-success",
	[CLEANUP_NEVER] = "never",
};

void listing_init(struct listing *listing)
{
	*listing = (struct listing){ .mem = arena_new() };
}

void listing_done(struct listing *listing)
{
	free(listing->items);
	free(listing->unreached);
	if (listing->mem)
		arena_free(listing->mem);
	*listing = (struct listing){ 0 };
}

static const char *copy(struct listing *listing, const char *text)
{
	return text ? arena_strdup(listing->mem, text) : NULL;
}

void listing_add(struct listing *listing, const struct listed *one)
{
	struct listed *to;

	if (listing->count == listing->room) {
		listing->room = listing->room ? 2 * listing->room : 16;
		listing->items = mem_grow(listing->items, listing->room,
					  sizeof(*listing->items));
	}
	to = &listing->items[listing->count++];
	*to = *one;
	to->name = copy(listing, one->name);
	to->place = copy(listing, one->place);
	to->where = copy(listing, one->where);
	to->labels.job_id = copy(listing, one->labels.job_id);
	to->labels.digest = copy(listing, one->labels.digest);
	to->labels.set = copy(listing, one->labels.set);
	to->labels.set_digest = copy(listing, one->labels.set_digest);
	to->labels.origin = copy(listing, one->labels.origin);
}

static bool is_place(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

void listing_add_unreached(struct listing *listing, const char *place,
			   const struct error *why)
{
	size_t n = listing->unreached_count, i;

	for (i = 0; i < n; i++)
		if (is_place(listing->unreached[i].place, place))
			return;
	listing->unreached = mem_grow(listing->unreached, n + 1,
				      sizeof(*listing->unreached));
	listing->unreached[n] =
		(struct unreached){ copy(listing, place), *why };
	listing->unreached_count++;
}

bool listing_lacks(const struct listing *listing, const char *place)
{
	size_t i;

	for (i = 0; i < listing->unreached_count; i++)
		if (!place || !listing->unreached[i].place ||
		    !strcmp(listing->unreached[i].place, place))
			return true;
	return false;
}

int listing_check(const struct listing *listing, struct error *err)
{
	if (!listing->unreached_count)
		return 0;
	*err = listing->unreached[0].why;
	return -1;
}

static size_t rank(const struct kind *kind, const struct kind *const *kinds)
{
	size_t i = 0;

	while (kinds[i] && kinds[i] != kind)
		i++;
	return i;
}

static int compare(const void *a, const void *b, void *arg)
{
	const struct listed *one = a, *other = b;
	size_t i = rank(one->kind, arg), j = rank(other->kind, arg);
	int order;

	if (i != j)
		return i < j ? -1 : 1;
	order = strcmp(one->name, other->name);
	if (order)
		return order;
	return strcmp(one->place ? one->place : "",
		      other->place ? other->place : "");
}

void listing_sort(struct listing *listing, const struct kind *const *kinds)
{
	void *arg = (void *)kinds;
	size_t i, n = 0;

	if (listing->count)
		qsort_r(listing->items, listing->count, sizeof(*listing->items),
			compare, arg);
	for (i = 0; i < listing->count; i++)
		if (!n || compare(&listing->items[n - 1], &listing->items[i],
				  arg) != 0)
			listing->items[n++] = listing->items[i];
	listing->count = n;
}

struct labels labels_of(const struct job *job, int64_t now_ms)
{
	const struct scheduling *limits = &job->training_input.scheduling;
	struct labels out = { .job_id = job->job_id,
			      .digest = job->digest.hex,
			      .set = job->set,
			      .origin = job->origin,
			      .cleanup = job->jobrun.cleanup };

	if (limits->max_running_time_s)
		out.expire_time_ms =
			now_ms + ((int64_t)limits->max_wait_time_s +
				  limits->max_running_time_s + EXPIRE_SLACK_S) *
					 1000;
	return out;
}

void set_digest(const char *set, char out[SET_DIGEST_MAX])
{
	struct digest digest;

	digest_bytes(set, strlen(set), &digest);
	snprintf(out, SET_DIGEST_MAX, "%.*s", SET_DIGEST_MAX - 1, digest.hex);
}

bool labels_are_of_set(const struct labels *labels, const char *set)
{
	char digest[SET_DIGEST_MAX];

	if (labels->set)
		return !strcmp(labels->set, set);
	set_digest(set, digest);
	return labels->set_digest && !strcmp(labels->set_digest, digest);
}

bool labels_are_of_a_set(const struct labels *labels)
{
	return labels->set || labels->set_digest;
}

const char *cleanup_name(int cleanup)
{
	return cleanup_names[cleanup];
}

int cleanup_parse(const char *name)
{
	size_t i;

	for (i = 0; name && i < COUNT(cleanup_names); i++)
		if (!strcmp(cleanup_names[i], name))
			return (int)i;
	return CLEANUP_ALWAYS;
}
