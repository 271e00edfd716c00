/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/tpu/tpu_making.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "providers/google/operation.h"

/* The pause between rounds through all zones. */
#define ROUND_MS 1000
#define ROUND_MAX_MS 60000
/* The pauses between looks at an operation grow up to this. */
#define LOOK_MAX_MS 15000

/* A TPU being created.  Each name is used by one thread at a time; the list is
 * shared. */
struct making {
	struct making *next;
	char *name;
	size_t zone;          /* zone being tried: index in its places */
	char *operation;      /* running operation, or NULL */
	int64_t next_look_ms; /* at the operation */
	int64_t look_pause_ms;
	bool known;           /* requested here, or seen usable */
	bool pending;         /* requested here, or seen not usable yet */
	bool resting;         /* no zone has capacity: wait for a round */
	struct error no_more; /* the answer of the last zone */
	char passed[80];      /* "; us-central1-a does not offer it" */
	int64_t begun_ms;     /* the first round; all times are monotonic */
	int64_t next_round_ms;
	int64_t pause_ms;
	int64_t since_ms;   /* first seen unusable; 0: it is usable */
	int64_t renewed_ms; /* 0: never */
};

static struct making *find(struct tpu_maker *maker, const char *name)
{
	struct making *one;

	pthread_mutex_lock(&maker->lock);
	for (one = maker->makings; one && strcmp(one->name, name) != 0;)
		one = one->next;
	if (!one) {
		one = mem_alloc(sizeof(*one));
		one->name = mem_strdup(name);
		one->next = maker->makings;
		maker->makings = one;
	}
	pthread_mutex_unlock(&maker->lock);
	return one;
}

static void forget_operation(struct making *one)
{
	free(one->operation);
	one->operation = NULL;
	one->next_look_ms = 0;
	one->look_pause_ms = 0;
}

void tpu_maker_init(struct tpu_maker *maker)
{
	pthread_mutex_init(&maker->lock, NULL);
}

void tpu_maker_done(struct tpu_maker *maker)
{
	struct making *all = maker->makings;

	while (all) {
		struct making *next = all->next;

		free(all->operation);
		free(all->name);
		free(all);
		all = next;
	}
	maker->makings = NULL;
	pthread_mutex_destroy(&maker->lock);
}

/* Whether a zone has no capacity, or a quota is used up. */
static bool is_stock_out(const struct error *err)
{
	return err->code == ERROR_TRY_AGAIN && err->final;
}

/* Whether the zone lacks the type: "Accelerator type v3-32 was not found in
 * zone us-central1-a". */
static bool is_not_offered(const struct error *err)
{
	return err->code == ERROR_FAILED && strstr(err->text, "status 404") &&
	       strstr(err->text, "ccelerator");
}

static long patience_s(const struct resource *want)
{
	struct error ignored;
	long s = 0;

	duration_parse(json_get_text(want->properties, "waitForCapacity", "0s"),
		       &s, &ignored);
	return s;
}

/* Schedules the next round when no zone has capacity, or fails if the time is
 * over; `err` has the last answer. */
static int rest(struct making *one, const struct resource *want,
		const struct tpu_places *places, struct error *err)
{
	int64_t now_ms = time_monotonic_ms();

	if (now_ms - one->begun_ms >= patience_s(want) * 1000) {
		if (places->count > 1)
			error_prefix(err,
				     "none of %zu zones has capacity, "
				     "last %s",
				     places->count,
				     places->zones[places->count - 1]);
		return -1;
	}
	one->no_more = *err;
	one->resting = true;
	one->pause_ms = one->pause_ms ? 2 * one->pause_ms : ROUND_MS;
	if (one->pause_ms > ROUND_MAX_MS)
		one->pause_ms = ROUND_MAX_MS;
	one->next_round_ms = now_ms + one->pause_ms;
	return 0;
}

/* Tries the zones from the next one on. */
static int try_zones(struct tpu_maker *maker, struct making *one,
		     const struct resource *want,
		     const struct tpu_places *places, struct arena *mem,
		     struct error *err)
{
	const char *operation;
	struct error no_more;
	bool sold_out = false;

	forget_operation(one);
	one->resting = false;
	for (; one->zone < places->count; one->zone++) {
		if (maker->request(maker->arg, want, places,
				   places->zones[one->zone], mem, &operation,
				   err) == 0) {
			if (operation && *operation)
				one->operation = mem_strdup(operation);
			return 0;
		}
		if (!is_stock_out(err) && !is_not_offered(err))
			return error_prefix(err, "zone %s",
					    places->zones[one->zone]);
		if (is_stock_out(err))
			no_more = *err;
		else
			snprintf(one->passed, sizeof(one->passed),
				 "; %s does not offer it",
				 places->zones[one->zone]);
		sold_out = sold_out || is_stock_out(err);
	}
	one->zone = 0;
	/* No zone will ever offer it. */
	if (!sold_out)
		return -1;
	*err = no_more;
	return rest(one, want, places, err);
}

int making_start(struct tpu_maker *maker, const struct resource *want,
		 struct error *err)
{
	struct arena *mem = arena_new();
	struct making *one = find(maker, want->name);
	struct tpu_places places;
	int ret = tpu_places_find(maker->google, want, mem, &places, err);

	if (ret == 0) {
		one->known = true;
		one->pending = true;
		one->zone = 0;
		one->pause_ms = 0;
		one->begun_ms = time_monotonic_ms();
		one->since_ms = one->begun_ms;
		ret = try_zones(maker, one, want, &places, mem, err);
	}
	arena_free(mem);
	return ret;
}

/* Returns 1 while the operation runs, 0 if it is done or unknown, -1 if it has
 * failed. */
static int look_operation(struct tpu_maker *maker, const struct making *one,
			  struct error *err)
{
	char *path = mem_printf("%s/%s", maker->api == TPU_API_V1 ? "v1" : "v2",
				one->operation);
	struct api_answer answer = { 0 };
	struct operation now = { 0 };
	int ret = operation_look(maker->google, SERVICE_TPU, NULL, path,
				 &answer, &now, err);

	if (ret < 0 && answer.status == 404)
		ret = 0;
	else if (ret == 0 && now.failed)
		*err = now.failure;
	if (now.failed)
		ret = -1;
	else if (ret == 0 && answer.status == 200)
		ret = !now.done;
	api_answer_done(&answer);
	free(path);
	return ret;
}

static int say_resting(const struct making *one, struct error *err)
{
	error_set(err, ERROR_TRY_AGAIN, "no zone has capacity (%.300s)",
		  one->no_more.text);
	return 1;
}

/* Whether it is time to look at the operation: seldom, as the TPU itself shows
 * how far it is, unless it is refused. */
static bool is_look_due(struct making *one)
{
	int64_t now_ms = time_monotonic_ms();

	if (now_ms < one->next_look_ms)
		return false;
	one->look_pause_ms = one->look_pause_ms ? 2 * one->look_pause_ms
						: operation_first_look_ms();
	if (one->look_pause_ms > LOOK_MAX_MS)
		one->look_pause_ms = LOOK_MAX_MS;
	one->next_look_ms = now_ms + one->look_pause_ms;
	return true;
}

/* Follows the operation; if the zone has no capacity, tries the next one. */
static int follow_operation(struct tpu_maker *maker, struct making *one,
			    const struct resource *want,
			    const struct tpu_places *places, struct arena *mem,
			    struct error *err)
{
	int ret;

	if (!is_look_due(one))
		return 0;
	ret = look_operation(maker, one, err);
	if (ret > 0)
		return 0;
	forget_operation(one);
	if (ret == 0 || !is_stock_out(err))
		return ret;
	if (++one->zone < places->count)
		return try_zones(maker, one, want, places, mem, err);
	one->zone = 0;
	return rest(one, want, places, err);
}

int making_look(struct tpu_maker *maker, const struct resource *want,
		struct error *err)
{
	struct making *one = find(maker, want->name);
	struct tpu_places places;
	struct arena *mem;
	int ret;

	if (one->resting && time_monotonic_ms() < one->next_round_ms)
		return say_resting(one, err);
	if (!one->resting && !one->operation)
		return 0;
	mem = arena_new();
	ret = tpu_places_find(maker->google, want, mem, &places, err);
	if (ret == 0 && one->resting)
		ret = try_zones(maker, one, want, &places, mem, err);
	else if (ret == 0)
		ret = follow_operation(maker, one, want, &places, mem, err);
	if (ret == 0 && one->resting) {
		ret = say_resting(one, err);
	} else if (ret == 0 && one->operation) {
		error_set(err, ERROR_TRY_AGAIN, "it is being created in %s%s",
			  places.zones[one->zone], one->passed);
		ret = 1;
	}
	arena_free(mem);
	return ret;
}

int making_again(struct tpu_maker *maker, const struct resource *want,
		 struct error *err)
{
	if (find(maker, want->name)->known || !want->request)
		return 0;
	if (making_start(maker, want, err) < 0)
		return -1;
	return 1;
}

int making_refused(struct tpu_maker *maker, const struct resource *want,
		   const char *zone, struct error *err)
{
	struct making *one = find(maker, want->name);
	struct arena *mem = arena_new();
	struct tpu_places places;
	struct error why;
	int ret = tpu_places_find(maker->google, want, mem, &places, &why);

	if (ret < 0) {
		*err = why;
		goto out;
	}
	/* Another process may have requested the TPU there. */
	if (!one->begun_ms)
		one->begun_ms = time_monotonic_ms();
	one->known = true;
	for (one->zone = 0; one->zone < places.count;)
		if (!strcmp(places.zones[one->zone++], zone))
			break;
	ret = one->zone < places.count
		      ? try_zones(maker, one, want, &places, mem, err)
		      : rest(one, want, &places, err);
	if (one->zone == places.count)
		one->zone = 0;
out:
	arena_free(mem);
	return ret;
}

int64_t making_since(struct tpu_maker *maker, const char *name)
{
	struct making *one = find(maker, name);

	if (!one->since_ms)
		one->since_ms = time_monotonic_ms();
	return one->since_ms;
}

const char *making_passed(struct tpu_maker *maker, const char *name)
{
	return find(maker, name)->passed;
}

void making_done(struct tpu_maker *maker, const char *name)
{
	struct making *one = find(maker, name);

	one->known = true;
	one->pending = false;
	one->since_ms = 0;
	one->resting = false;
	forget_operation(one);
}

void making_pending(struct tpu_maker *maker, const char *name)
{
	find(maker, name)->pending = true;
}

bool making_is_pending(struct tpu_maker *maker, const char *name)
{
	return find(maker, name)->pending;
}

bool making_renews(struct tpu_maker *maker, const char *name, long every_s)
{
	struct making *one = find(maker, name);
	int64_t now_ms = time_monotonic_ms();

	if (one->renewed_ms && now_ms - one->renewed_ms < every_s * 1000)
		return false;
	one->renewed_ms = now_ms;
	return true;
}
