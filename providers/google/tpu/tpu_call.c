/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/tpu/tpu_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "providers/google/operation.h"
#include "providers/google/google_place.h"
#include "providers/google/request_id.h"

/* The longest pause between looks while something is deleted; pauses grow. */
#define PAUSE_MAX_MS 5000
#define GONE_MAX_MS (10 * 60 * 1000)

static const char *version(enum tpu_api api)
{
	return api == TPU_API_V1 ? "v1" : "v2";
}

int tpu_call(struct google *google, enum tpu_api api, const char *method,
	     const char *path, const char *const *query, const json_t *body,
	     struct api_answer *answer, struct error *err)
{
	char *whole = mem_printf("%s/%s", version(api), path);
	const struct api_request request = {
		.service = SERVICE_TPU,
		.method = method,
		.path = whole,
		.query = query,
		.body = body,
		.repeatable = strcmp(method, "POST") != 0,
	};
	int ret = api_call(google, &request, answer, err);

	free(whole);
	return ret;
}

/* One that changes something in the queue; `target` is of what. */
static int change_queue(struct google *google, const struct tpu_change *change,
			const char *method, const char *path,
			const char *target, const json_t *body,
			struct api_answer *answer, struct error *err)
{
	char *whole = mem_printf(
		"%s/%s", change->version ? change->version : "v2", path);
	char *thing = mem_printf("v2/%s", target);
	const struct api_request request = {
		.service = SERVICE_TPU,
		.method = method,
		.path = whole,
		.query = change->query,
		.body = body,
	};
	int ret = request_once(google, change->once, &request, thing, answer,
			       err);

	/* What comes of it is seen at the place in the queue: the same, asked
	 * for later, is another. */
	if (ret == 0)
		request_answered(google, change->once, method, whole);
	free(thing);
	free(whole);
	return ret;
}

int tpu_queue_create(struct google *google, const struct tpu_change *change,
		     const char *path, const char *name, const json_t *body,
		     struct error *err)
{
	struct api_answer answer = { 0 };
	char *target = mem_printf("%s/%s", path, name);
	int ret = change_queue(google, change, "POST", path, target, body,
			       &answer, err);

	if (ret < 0 && answer.status == 409) /* maybe an earlier try of ours */
		ret = 0;
	api_answer_done(&answer);
	free(target);
	return ret;
}

int tpu_create(struct google *google, enum tpu_api api, const char *path,
	       const char *const *query, const json_t *body, struct arena *mem,
	       const char **operation, struct error *err)
{
	struct api_answer answer = { 0 };
	int ret =
		tpu_call(google, api, "POST", path, query, body, &answer, err);

	*operation = NULL;
	if (ret == 0)
		*operation = arena_strdup(
			mem, json_get_text(answer.body, "name", ""));
	else if (answer.status == 409) /* maybe our earlier try */
		ret = 0;
	api_answer_done(&answer);
	return ret;
}

int tpu_get(struct google *google, enum tpu_api api, const char *path,
	    json_t **out, struct error *err)
{
	struct api_answer answer = { 0 };
	int ret = tpu_call(google, api, "GET", path, NULL, NULL, &answer, err);

	*out = NULL;
	if (ret == 0)
		*out = json_incref(answer.body);
	else if (answer.status == 404)
		ret = 0;
	api_answer_done(&answer);
	return ret;
}

/* ---- deleting ----------------------------------------------------------- */

/* Looks at an operation; fails if it has failed. */
static int check_operation(struct google *google, enum tpu_api api,
			   const char *name, bool *done, struct error *err)
{
	char *path = mem_printf("%s/%s", version(api), name);
	struct api_answer answer = { 0 };
	struct operation now = { 0 };
	int ret = operation_look(google, SERVICE_TPU, NULL, path, &answer, &now,
				 err);

	if (ret < 0 && answer.status == 404) {
		/* The operation was forgotten, so look at the node itself. */
		*done = true;
		ret = 0;
	} else if (ret == 0) {
		*done = now.done;
		if (now.failed) {
			*err = now.failure;
			/* A failed deletion is tried again. */
			err->final = false;
			err->code = ERROR_TRY_AGAIN;
			ret = -1;
		}
	}
	api_answer_done(&answer);
	free(path);
	return ret;
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000,
				      .tv_nsec = ms % 1000 * 1000000L },
		  NULL);
}

static int wait_gone(struct google *google, enum tpu_api api, const char *path,
		     const char *operation, struct error *err)
{
	int64_t until_ms = time_monotonic_ms() + GONE_MAX_MS;
	long pause = operation_first_look_ms();
	bool done = !*operation;
	json_t *body;

	for (;;) {
		/* The deletion was only requested so far. */
		if (!done)
			pause_ms(pause);
		if (!done &&
		    check_operation(google, api, operation, &done, err) < 0)
			return -1;
		if (tpu_get(google, api, path, &body, err) < 0)
			return -1;
		json_decref(body);
		if (!body)
			return 0;
		if (time_monotonic_ms() > until_ms)
			return error_set(err, ERROR_TRY_AGAIN,
					 "it still exists, ten minutes after "
					 "it was deleted");
		if (done)
			pause_ms(pause);
		pause = 2 * pause < PAUSE_MAX_MS ? 2 * pause : PAUSE_MAX_MS;
	}
}

/* What the answer to a DELETE means; waits until it is gone. */
static int finish_delete(struct google *google, enum tpu_api api,
			 const char *path, int ret, struct api_answer *answer,
			 struct error *err)
{
	char operation[512] = "";

	if (ret == 0)
		snprintf(operation, sizeof(operation), "%s",
			 json_get_text(answer->body, "name", ""));
	/* 404: gone, unless an earlier request, whose answer was lost, is what
	 * has begun to delete it.  409: it is being deleted, or made. */
	else if (answer->status == 404 || answer->status == 409)
		ret = 0;
	api_answer_done(answer);
	return ret == 0 ? wait_gone(google, api, path, operation, err) : ret;
}

int tpu_delete(struct google *google, enum tpu_api api, const char *path,
	       struct error *err)
{
	struct api_answer answer = { 0 };
	int ret =
		tpu_call(google, api, "DELETE", path, NULL, NULL, &answer, err);

	return finish_delete(google, api, path, ret, &answer, err);
}

int tpu_queue_delete(struct google *google, const struct tpu_change *change,
		     const char *path, struct error *err)
{
	struct api_answer answer = { 0 };
	int ret = change_queue(google, change, "DELETE", path, path, NULL,
			       &answer, err);

	return finish_delete(google, TPU_API_V2, path, ret, &answer, err);
}

/* ---- listing ------------------------------------------------------------ */

struct tpu_listing {
	const char *collection;
	void (*each)(void *arg, const json_t *item);
	void *arg;
};

static int add_page(void *arg, const json_t *page, struct error *err)
{
	const struct tpu_listing *items = arg;
	const json_t *item;
	size_t i;

	(void)err;
	json_array_foreach(json_object_get(page, items->collection), i, item)
		items->each(items->arg, item);
	return 0;
}

int tpu_list(struct google *google, enum tpu_api api, const char *where,
	     const char *collection,
	     void (*each)(void *arg, const json_t *item), void *arg,
	     struct error *err)
{
	struct tpu_listing items = { collection, each, arg };
	struct api_request request = { .service = SERVICE_TPU,
				       .method = "GET" };
	struct arena *mem = arena_new();
	const char *project = place_project(google, where, mem);
	int ret = 0;

	if (project) {
		request.path =
			arena_printf(mem, "%s/projects/%s/locations/-/%s",
				     version(api), project, collection);
		ret = api_list(google, &request, add_page, &items, err);
	}
	if (ret < 0 && !where && error_is_denied(err))
		ret = 0;
	arena_free(mem);
	return ret;
}
