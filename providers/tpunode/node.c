/* SPDX-License-Identifier: Apache-2.0 */
/* The TPU node itself: tpu.googleapis.com v1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "providers/google/tpu_call.h"
#include "providers/tpunode/place.h"

#define POLL_MS 2000

/* `body` is new, or NULL: there is none. */
static int look(struct tpu_node_ctx *ctx, const struct resource *it,
		struct arena *mem, struct tpu_node_place *place, json_t **body,
		struct tpu_node *node, struct error *err)
{
	char *path;
	int ret;

	*body = NULL;
	if (tpu_node_place(ctx, it, mem, place, err) < 0)
		return -1;
	path = tpu_node_path(it, place);
	ret = tpu_get(ctx->google, TPU_API_V1, path, body, err);
	if (*body)
		tpu_node_read(*body, TPU_API_V1, mem, node);
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
		ret = tpu_call(ctx->google, TPU_API_V1, "POST", path, query,
			       body, &answer, err);
		if (ret < 0 && answer.status == 409)
			ret = 0;
		api_answer_done(&answer);
		json_decref(body);
		free(path);
	}
	arena_free(mem);
	return ret;
}

static int node_delete(void *arg, const struct resource *have,
		       struct error *err)
{
	struct tpu_node_ctx *ctx = arg;
	struct arena *mem = arena_new();
	struct tpu_node_place place;
	char *path;
	int ret = tpu_node_place(ctx, have, mem, &place, err);

	if (ret == 0) {
		path = tpu_node_path(have, &place);
		ret = tpu_delete(ctx->google, TPU_API_V1, path, NULL, err);
		free(path);
	}
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
	struct arena *mem;
};

static void add_node(void *arg, const json_t *node)
{
	struct list *list = arg;
	const char *path = json_get_text(node, "name", "");
	const char *project = path + strlen("projects/");
	const char *zone = strstr(path, "/locations/");
	struct tpu_node_place place;

	if (!text_starts(path, "projects/") || !zone)
		return;
	place.project =
		arena_strndup(list->mem, project, (size_t)(zone - project));
	zone += strlen("/locations/");
	place.zone = arena_strndup(list->mem, zone, strcspn(zone, "/"));
	tpu_node_list_one(list->out, &kind_tpu_node, path_base(path), &place,
			  json_object_get(node, "labels"),
			  json_get_text(node, "description", NULL),
			  json_get_text(node, "createTime", ""));
}

static int node_list(void *arg, const char *where, struct listing *out,
		     struct error *err)
{
	struct tpu_node_ctx *ctx = arg;
	struct list list = { .out = out, .mem = arena_new() };
	int ret =
		tpu_list(ctx->google, TPU_API_V1, where, add_node, &list, err);

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
