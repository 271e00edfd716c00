/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/request_id.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "providers/google/google.h"
#include "providers/google/operation.h"

#define UUID_MAX 37
#define UUID_BYTES 16
#define QUERY_MAX 16

struct answered {
	struct answered *next;
	char *key; /* "ONCE METHOD PATH" */
	int count;
};

struct request_ids {
	pthread_mutex_t lock;
	struct answered *all;
};

struct request_ids *request_ids_new(void)
{
	struct request_ids *ids = mem_alloc(sizeof(*ids));

	pthread_mutex_init(&ids->lock, NULL);
	return ids;
}

void request_ids_free(struct request_ids *ids)
{
	while (ids->all) {
		struct answered *one = ids->all;

		ids->all = one->next;
		free(one->key);
		free(one);
	}
	pthread_mutex_destroy(&ids->lock);
	free(ids);
}

static struct answered *find(struct request_ids *ids, const char *key)
{
	struct answered *one = ids->all;

	while (one && strcmp(one->key, key) != 0)
		one = one->next;
	return one;
}

static int count_answered(struct google *google, const char *key)
{
	struct request_ids *ids = google_request_ids(google);
	const struct answered *one;
	int count;

	pthread_mutex_lock(&ids->lock);
	one = find(ids, key);
	count = one ? one->count : 0;
	pthread_mutex_unlock(&ids->lock);
	return count;
}

static char *key_of(const char *once, const char *method, const char *path)
{
	return mem_printf("%s %s %s", once, method, path);
}

void request_answered(struct google *google, const char *once,
		      const char *method, const char *path)
{
	struct request_ids *ids = google_request_ids(google);
	struct answered *one;
	char *key;

	if (!once)
		return;
	key = key_of(once, method, path);
	pthread_mutex_lock(&ids->lock);
	one = find(ids, key);
	if (!one) {
		one = mem_alloc(sizeof(*one));
		one->key = mem_strdup(key);
		one->next = ids->all;
		ids->all = one;
	}
	one->count++;
	pthread_mutex_unlock(&ids->lock);
	free(key);
}

static void put_uuid(uint8_t raw[UUID_BYTES], char out[UUID_MAX])
{
	size_t i, at = 0;

	raw[6] = (uint8_t)((raw[6] & 0x0f) | 0x40);
	raw[8] = (uint8_t)((raw[8] & 0x3f) | 0x80);
	for (i = 0; i < UUID_BYTES; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			out[at++] = '-';
		snprintf(out + at, UUID_MAX - at, "%02x", raw[i]);
		at += 2;
	}
}

static void random_bytes(uint8_t raw[UUID_BYTES])
{
	uint64_t now;
	size_t i;

	/* Without randomness the clock has to do. */
	if (getrandom(raw, UUID_BYTES, 0) == UUID_BYTES)
		return;
	now = (uint64_t)time_monotonic_ms();
	for (i = 0; i < UUID_BYTES; i++)
		raw[i] = (uint8_t)(now >> i % 8 * 8);
}

/* The name follows from the action and the count of its answered requests. */
static void derived_bytes(struct google *google, const char *once,
			  const struct api_request *request,
			  uint8_t raw[UUID_BYTES])
{
	char *key = key_of(once, request->method, request->path);
	char *text = mem_printf("%d %s", count_answered(google, key), key);
	struct digest digest;
	unsigned byte;
	size_t i;

	digest_bytes(text, strlen(text), &digest);
	for (i = 0; i < UUID_BYTES; i++) {
		sscanf(digest.hex + 2 * i, "%2x", &byte);
		raw[i] = (uint8_t)byte;
	}
	free(text);
	free(key);
}

static int call(struct google *google, const char *once,
		const struct api_request *request, struct api_answer *answer,
		struct error *err)
{
	const char *query[QUERY_MAX] = { NULL };
	struct api_request whole = *request;
	uint8_t raw[UUID_BYTES];
	char id[UUID_MAX];
	size_t n = 0;

	if (once)
		derived_bytes(google, once, request, raw);
	else
		random_bytes(raw);
	put_uuid(raw, id);
	for (; request->query && request->query[n]; n++)
		query[n] = request->query[n];
	query[n] = "requestId";
	query[n + 1] = id;
	whole.query = query;
	whole.repeatable = true;
	return api_call(google, &whole, answer, err);
}

/* It was done, and undone by somebody since. */
static bool is_stale(struct google *google, const struct api_request *request,
		     const char *target, const struct api_answer *answer)
{
	const struct api_request get = { .service = request->service,
					 .method = "GET",
					 .path = target };
	struct api_answer look = { 0 };
	struct operation now = { 0 };
	struct error ignored;
	bool there, known;

	operation_read(request->service, answer->body, &now);
	if (!target || !now.done || now.failed)
		return false;
	there = api_call(google, &get, &look, &ignored) == 0;
	known = there || look.status == 404;
	api_answer_done(&look);
	return known && there == !strcmp(request->method, "DELETE");
}

int request_once(struct google *google, const char *once,
		 const struct api_request *request, const char *target,
		 struct api_answer *answer, struct error *err)
{
	int ret = call(google, once, request, answer, err);

	if (ret == 0 && once && is_stale(google, request, target, answer)) {
		request_answered(google, once, request->method, request->path);
		api_answer_done(answer);
		ret = call(google, once, request, answer, err);
	}
	/* Refused: who asks again asks for another. */
	if (ret < 0 && answer->status / 100 == 4)
		request_answered(google, once, request->method, request->path);
	return ret;
}
