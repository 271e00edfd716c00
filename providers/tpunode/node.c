/* SPDX-License-Identifier: Apache-2.0 */
/* The TPU node itself: tpu.googleapis.com v1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "providers/google/api.h"
#include "providers/google/operation.h"
#include "providers/google/tpu.h"
#include "providers/tpunode/place.h"

#define POLL_MS 2000
#define PAUSE_MS 20
#define PAUSE_MAX_MS 5000
#define GONE_MAX_MS (10 * 60 * 1000)

static int call(struct tpu_node_ctx *ctx, const char *method, const char *path,
		const char *const *query, const json_t *body,
		struct api_answer *answer, struct error *err)
{
	char *whole = mem_printf("v1/%s", path);
	const struct api_request request = {
		.service = SERVICE_TPU,
		.method = method,
		.path = whole,
		.query = query,
		.body = body,
		.repeatable = strcmp(method, "POST") != 0,
	};
	int ret = api_call(ctx->google, &request, answer, err);

	free(whole);
	return ret;
}

/* `body` is new, or NULL: there is none. */
static int look(struct tpu_node_ctx *ctx, const struct resource *it,
		struct arena *mem, struct tpu_node_place *place, json_t **body,
		struct tpu_node *node, struct error *err)
{
	struct api_answer answer = { 0 };
	char *path;
	int ret;

	*body = NULL;
	if (tpu_node_place(ctx, it, mem, place, err) < 0)
		return -1;
	path = tpu_node_path(it, place);
	ret = call(ctx, "GET", path, NULL, NULL, &answer, err);
	if (ret == 0) {
		*body = json_incref(answer.body);
		tpu_node_read(*body, TPU_API_V1, mem, node);
	} else if (answer.status == 404) {
		ret = 0;
	}
	api_answer_done(&answer);
	free(path);
	return ret;
}

static json_t *tpu_hosts(const struct tpu_node *node)
{
	json_t *out = json_array();
	size_t i;

	for (i = 0; i < node->endpoint_count; i++) {
		char *one = mem_printf("%s:%d", node->endpoints[i].ip,
				       node->endpoints[i].port);

		json_array_append_new(out, json_text(one));
		free(one);
	}
	return out;
}

static int node_read(void *arg, const struct resource *want,
		     struct resource *found, struct error *err)
{
	static const char *const same[] = { "acceleratorType",
					    "tensorflowVersion", "cidrBlock" };
	struct arena *mem = arena_new();
	struct tpu_node_place place;
	struct tpu_node node;
	json_t *body = NULL, *shown = NULL;
	int ret = look(arg, want, mem, &place, &body, &node, err);
	size_t i;

	if (ret == 0 && body) {
		shown = json_deep_copy(want->properties);
		if (!shown)
			shown = json_object();
		for (i = 0; i < COUNT(same); i++)
			if (json_object_get(shown, same[i]))
				json_put_text(shown, same[i],
					      json_get_text(body, same[i], ""));
		if (tpu_node_phase(&node) == TPU_LOST)
			json_put_text(shown, "state", node.state);
		found->outputs = json_object();
		if (tpu_node_phase(&node) == TPU_USABLE)
			json_put(found->outputs, "tpuHosts", tpu_hosts(&node));
	}
	if (ret == 0)
		tpu_node_set_found(found, shown, &place);
	json_decref(body);
	arena_free(mem);
	return ret;
}

/* Its operation goes on by itself: `wait` looks at the node. */
static int node_create(void *arg, const struct resource *want,
		       struct error *err)
{
	struct tpu_node_ctx *ctx = arg;
	struct arena *mem = arena_new();
	const char *query[] = { "nodeId", want->name, NULL };
	struct api_answer answer = { 0 };
	struct tpu_node_place place;
	json_t *body;
	char *path;
	int ret = tpu_node_place(ctx, want, mem, &place, err);

	if (ret == 0) {
		path = tpu_node_collection(want->kind->name, &place);
		body = tpu_node_node_now(want, time_now_ms());
		ret = call(ctx, "POST", path, query, body, &answer, err);
		if (ret < 0 && answer.status == 409)
			ret = 0;
		api_answer_done(&answer);
		json_decref(body);
		free(path);
	}
	arena_free(mem);
	return ret;
}

/* The error of an operation is worth another try: it costs. */
static int check_operation(struct tpu_node_ctx *ctx, const char *name,
			   struct error *err)
{
	char *path = mem_printf("v1/%s", name);
	struct api_answer answer = { 0 };
	struct operation now = { 0 };
	int ret = operation_look(ctx->google, SERVICE_TPU, NULL, path, &answer,
				 &now, err);

	if (ret < 0 && answer.status == 404)
		ret = 0;
	if (ret == 0 && now.failed) {
		*err = now.failure;
		err->final = false;
		err->code = ERROR_TRY_AGAIN;
		ret = -1;
	}
	api_answer_done(&answer);
	free(path);
	return ret;
}

static int wait_gone(struct tpu_node_ctx *ctx, const struct resource *have,
		     const char *operation, struct arena *mem,
		     struct error *err)
{
	int64_t until_ms = time_monotonic_ms() + GONE_MAX_MS;
	struct tpu_node_place place;
	struct tpu_node node;
	long pause = PAUSE_MS;
	json_t *body;

	for (;;) {
		if (*operation && check_operation(ctx, operation, err) < 0)
			return -1;
		if (look(ctx, have, mem, &place, &body, &node, err) < 0)
			return -1;
		json_decref(body);
		if (!body)
			return 0;
		if (time_monotonic_ms() > until_ms)
			return error_set(err, ERROR_TRY_AGAIN,
					 "it is still there, ten minutes "
					 "after it was deleted");
		nanosleep(&(struct timespec){ .tv_sec = pause / 1000,
					      .tv_nsec =
						      pause % 1000 * 1000000L },
			  NULL);
		pause = 2 * pause < PAUSE_MAX_MS ? 2 * pause : PAUSE_MAX_MS;
	}
}

static int node_delete(void *arg, const struct resource *have,
		       struct error *err)
{
	struct tpu_node_ctx *ctx = arg;
	struct arena *mem = arena_new();
	struct api_answer answer = { 0 };
	struct tpu_node_place place;
	const char *operation = "";
	char *path;
	int ret = tpu_node_place(ctx, have, mem, &place, err);

	if (ret == 0) {
		path = tpu_node_path(have, &place);
		ret = call(ctx, "DELETE", path, NULL, NULL, &answer, err);
		free(path);
		if (ret == 0)
			operation = arena_strdup(
				mem, json_get_text(answer.body, "name", ""));
		if (ret == 0 || answer.status == 409)
			ret = wait_gone(ctx, have, operation, mem, err);
		else if (answer.status == 404)
			ret = 0;
	}
	api_answer_done(&answer);
	arena_free(mem);
	return ret;
}

static int node_wait(void *arg, const struct resource *have,
		     enum wait_state *out, struct error *err)
{
	struct arena *mem = arena_new();
	struct tpu_node_place place;
	struct tpu_node node;
	json_t *body = NULL;
	char what[400];
	int ret = look(arg, have, mem, &place, &body, &node, err);

	if (ret < 0)
		goto out;
	if (!body) {
		ret = error_set_final(err, ERROR_FAILED,
				      "it is gone: there may be no capacity or "
				      "no quota in %s",
				      place.zone);
	} else if (tpu_node_phase(&node) == TPU_LOST) {
		ret = error_set_final(err, ERROR_FAILED, "it is lost: %s",
				      node.state);
	} else if (tpu_node_phase(&node) == TPU_USABLE) {
		*out = WAIT_DONE;
	} else {
		snprintf(what, sizeof(what), "%s%s%s%s%s in %s", node.state,
			 *node.health ? ", " : "", node.health,
			 *node.health_text ? ": " : "", node.health_text,
			 place.zone);
		*out = WAIT_PENDING;
		ret = tpu_node_pending(
			have, json_get_text(body, "createTime", ""), what, err);
	}
out:
	json_decref(body);
	arena_free(mem);
	return ret;
}

struct list {
	struct listing *out;
	const char *project;
	struct arena *mem;
};

static int add_page(void *arg, const json_t *page, struct error *err)
{
	struct list *list = arg;
	const json_t *node;
	size_t i;

	(void)err;
	json_array_foreach(json_object_get(page, "nodes"), i, node)
	{
		const char *path = json_get_text(node, "name", "");
		const char *zone = strstr(path, "/locations/");
		struct tpu_node_place place = { .project = list->project };

		if (!zone)
			continue;
		zone += strlen("/locations/");
		place.zone = arena_strndup(list->mem, zone, strcspn(zone, "/"));
		tpu_node_list_one(list->out, &kind_tpu_node, path_base(path),
				  &place, json_object_get(node, "labels"),
				  json_get_text(node, "description", NULL),
				  json_get_text(node, "createTime", ""));
	}
	return 0;
}

static int node_list(void *arg, const char *where, struct listing *out,
		     struct error *err)
{
	struct tpu_node_ctx *ctx = arg;
	struct list list = { .out = out, .mem = arena_new() };
	struct api_request request = { .service = SERVICE_TPU,
				       .method = "GET" };
	int ret = 0;

	list.project = tpu_node_project(ctx, where, list.mem);
	if (list.project) {
		request.path = arena_printf(list.mem,
					    "v1/projects/%s/locations/-/nodes",
					    list.project);
		ret = api_list(ctx->google, &request, add_page, &list, err);
	}
	/* Who may not look has made nothing here. */
	if (ret < 0 && !where && err->code == ERROR_DENIED)
		ret = 0;
	arena_free(list.mem);
	return ret;
}

const struct kind kind_tpu_node = {
	.name = "tpu-node",
	.flags = KIND_BILLED | KIND_FOR_RUN,
	.poll_ms = POLL_MS,
	.read = node_read,
	.adapt = tpu_node_adapt,
	.create = node_create,
	.delete = node_delete,
	.wait = node_wait,
	.list = node_list,
};
