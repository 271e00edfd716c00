/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/compute.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "providers/google/api.h"
#include "providers/google/operation.h"
#include "providers/google/request_id.h"

/* The longest pause between looks at an operation; pauses grow. */
#define PAUSE_MAX_MS 5000
#define OPERATION_MAX_MS (10 * 60 * 1000)

static int call(struct google *google, const char *method, const char *path,
		const char *const *query, const json_t *body,
		struct api_answer *answer, struct error *err)
{
	const struct api_request request = {
		.service = SERVICE_COMPUTE,
		.method = method,
		.path = path,
		.query = query,
		.body = body,
		.repeatable = true,
	};

	return api_call(google, &request, answer, err);
}

int compute_get(struct google *google, const char *path, json_t **out,
		struct error *err)
{
	struct api_answer answer = { 0 };
	int ret = call(google, "GET", path, NULL, NULL, &answer, err);

	*out = NULL;
	if (ret == 0)
		*out = json_incref(answer.body);
	else if (answer.status == 404)
		ret = 0;
	api_answer_done(&answer);
	return ret;
}

/* Returns the collection of operations for a path, ".../zones/Z" or
 * ".../global", as a new string. */
static char *operations_of(const char *path)
{
	const char *zone = strstr(path, "/zones/");
	const char *end = zone ? strchr(zone + strlen("/zones/"), '/')
			       : strstr(path, "/global") + strlen("/global");

	return mem_printf("%.*s/operations", (int)(end - path), path);
}

static int wait_operation(struct google *google, const char *path,
			  const char *name, struct error *err)
{
	int64_t until_ms = time_monotonic_ms() + OPERATION_MAX_MS;
	char *all = operations_of(path);
	char *whole = mem_printf("%s/%s", all, name);
	long pause = operation_first_look_ms();
	bool done = false;
	int ret = 0;

	while (ret == 0 && !done) {
		struct api_answer answer = { 0 };
		struct operation now = { 0 };

		nanosleep(&(struct timespec){ .tv_sec = pause / 1000,
					      .tv_nsec =
						      pause % 1000 * 1000000L },
			  NULL);
		ret = operation_look(google, SERVICE_COMPUTE, NULL, whole,
				     &answer, &now, err);
		/* The operation was forgotten, so look at the resource
		 * itself. */
		if (ret < 0 && answer.status == 404) {
			done = true;
			ret = 0;
		} else if (ret == 0 && now.failed) {
			*err = now.failure;
			ret = -1;
		}
		done = done || now.done;
		api_answer_done(&answer);
		if (ret == 0 && !done && time_monotonic_ms() > until_ms)
			ret = error_set(err, ERROR_TRY_AGAIN,
					"operation '%s' is not done after ten "
					"minutes",
					name);
		pause = 2 * pause < PAUSE_MAX_MS ? 2 * pause : PAUSE_MAX_MS;
	}
	free(whole);
	free(all);
	return ret;
}

/* One that changes something, and begins an operation; waits for that. */
static int change(struct google *google, const char *once, const char *method,
		  const char *path, const char *target, const json_t *body,
		  struct api_answer *answer, struct error *err)
{
	const struct api_request request = {
		.service = SERVICE_COMPUTE,
		.method = method,
		.path = path,
		.body = body,
	};
	int ret = request_once(google, once, &request, target, answer, err);

	if (ret < 0)
		return -1;
	ret = wait_operation(google, path,
			     json_get_text(answer->body, "name", ""), err);
	if (ret == 0 || err->code != ERROR_UNREACHABLE)
		request_answered(google, once, method, path);
	return ret;
}

int compute_insert(struct google *google, const char *once, const char *path,
		   const json_t *body, struct error *err)
{
	struct api_answer answer = { 0 };
	char *target =
		mem_printf("%s/%s", path, json_get_text(body, "name", ""));
	int ret =
		change(google, once, "POST", path, target, body, &answer, err);

	if (ret < 0 && answer.status == 409)
		ret = 0;
	api_answer_done(&answer);
	free(target);
	return ret;
}

int compute_delete(struct google *google, const char *once, const char *path,
		   struct error *err)
{
	struct api_answer answer = { 0 };
	int ret =
		change(google, once, "DELETE", path, path, NULL, &answer, err);

	if (ret < 0 && answer.status == 404) {
		ret = 0;
	} else if (ret < 0 && !strcmp(answer.reason.text,
				      "resourceInUseByAnotherResource")) {
		/* Its last user is being deleted. */
		err->code = ERROR_TRY_AGAIN;
	}
	api_answer_done(&answer);
	return ret;
}

static int add_items(void *arg, const json_t *page, struct error *err)
{
	(void)err;
	json_array_extend(arg, json_object_get(page, "items"));
	return 0;
}

int compute_list(struct google *google, const char *path, const char *filter,
		 json_t **out, struct error *err)
{
	const char *query[] = { "filter", filter, NULL };
	const struct api_request request = {
		.service = SERVICE_COMPUTE,
		.method = "GET",
		.path = path,
		.query = filter ? query : NULL,
	};
	json_t *items = json_array();
	int ret = api_list(google, &request, add_items, items, err);

	if (ret == 0)
		*out = items;
	else
		json_decref(items);
	return ret;
}

int compute_ask(struct google *google, const char *path, json_t **out,
		struct error *err)
{
	struct api_answer answer = { 0 };
	int ret = call(google, "POST", path, NULL, NULL, &answer, err);

	if (ret == 0)
		*out = json_incref(answer.body);
	api_answer_done(&answer);
	return ret;
}

int compute_act(struct google *google, const char *once, const char *path,
		struct error *err)
{
	struct api_answer answer = { 0 };
	int ret = change(google, once, "POST", path, NULL, NULL, &answer, err);

	api_answer_done(&answer);
	return ret;
}
