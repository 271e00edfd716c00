/* SPDX-License-Identifier: Apache-2.0 */
/* The TPU node itself: tpu.googleapis.com v1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "providers/google/compute.h"
#include "providers/google/google_labels.h"
#include "providers/google/google_place.h"
#include "providers/google/tpu/tpu_call.h"
#include "providers/google/tpu/tpu_ctx.h"
#include "providers/google/tpu/tpu_follow.h"
#include "providers/google/tpu/tpu_making.h"
#include "providers/google/tpu/tpu_owner.h"
#include "providers/tpunode/tpunode.h"
#include "providers/tpunode/tpunode_place.h"

#define POLL_MS 2000
/* The lease is renewed when a quarter of it is over. */
#define RENEWALS 4

/* ---- what there is ------------------------------------------------------- */

/* A node that was searched in its zones. */
struct found_node {
	struct tpu_node_place place; /* the first one if the node is nowhere */
	const char *first_zone;
	json_t *body; /* NULL: not found */
	struct tpu_node node;
	enum tpu_phase phase;
};

static int look_in(struct tpu_ctx *ctx, const struct resource *it, bool follows,
		   struct arena *mem, struct found_node *out, struct error *err)
{
	char *path = tpu_node_path(it, &out->place);
	int ret = follows ? tpu_follow(ctx, TPU_API_V1, path, &out->body, err)
			  : tpu_get(ctx->google, TPU_API_V1, path, &out->body,
				    err);

	out->phase = TPU_LOST;
	if (out->body) {
		tpu_node_read(out->body, TPU_API_V1, mem, &out->node);
		out->phase = tpu_node_phase(&out->node);
	}
	free(path);
	return ret;
}

/* Finds the first existing node, preferring those that are not lost. */
static int search(struct tpu_ctx *ctx, const struct resource *it, bool follows,
		  struct arena *mem, struct found_node *out, struct error *err)
{
	struct tpu_places places;
	size_t i;

	*out = (struct found_node){ .phase = TPU_LOST };
	if (tpu_places_find(ctx->google, it, mem, &places, err) < 0)
		return -1;
	out->place = (struct tpu_node_place){ places.project, places.zones[0] };
	out->first_zone = places.zones[0];
	for (i = 0; i < places.count; i++) {
		struct found_node one = { .place = { places.project,
						     places.zones[i] },
					  .first_zone = places.zones[0] };

		if (look_in(ctx, it, follows, mem, &one, err) < 0) {
			json_decref(out->body);
			return -1;
		}
		if (!one.body || (out->body && one.phase == TPU_LOST)) {
			json_decref(one.body);
			continue;
		}
		json_decref(out->body);
		*out = one;
		if (one.phase != TPU_LOST)
			break;
	}
	return 0;
}

static int look(struct tpu_ctx *ctx, const struct resource *it,
		struct arena *mem, struct found_node *out, struct error *err)
{
	return search(ctx, it, false, mem, out, err);
}

/* The same for a node that is waited for: what others have seen a moment ago
 * does as long as it still has to be waited for. */
static int look_again(struct tpu_ctx *ctx, const struct resource *it,
		      struct arena *mem, struct found_node *out,
		      struct error *err)
{
	if (!making_is_pending(&ctx->maker, it->name))
		return look(ctx, it, mem, out, err);
	if (search(ctx, it, true, mem, out, err) < 0)
		return -1;
	if (out->body && out->phase == TPU_PENDING)
		return 0;
	json_decref(out->body);
	return look(ctx, it, mem, out, err);
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
	struct tpu_ctx *ctx = arg;
	struct arena *mem = arena_new();
	json_t *shown = NULL;
	struct found_node one;
	int ret = look(ctx, want, mem, &one, err);
	char why[128];
	size_t i;

	if (ret == 0 && one.phase == TPU_USABLE)
		making_done(&ctx->maker, want->name);
	if (ret == 0 && one.body) {
		shown = tpu_node_shown(want);
		for (i = 0; i < COUNT(same); i++)
			if (json_object_get(shown, same[i]))
				json_put_text(
					shown, same[i],
					json_get_text(one.body, same[i], ""));
		if (one.phase == TPU_LOST)
			json_put_text(shown, "state", one.node.state);
		found->outputs = json_object();
		json_put_text(found->outputs, "project", one.place.project);
		tpu_owner_tell(ctx, json_object_get(one.body, "labels"), false,
			       want, found->outputs);
		if (tpu_node_differs(&one.node, want->properties, why,
				     sizeof(why)))
			json_put_text(shown, "state", why);
		else if (one.phase == TPU_USABLE)
			json_put(found->outputs, "tpuHosts",
				 tpu_hosts(&one.node));
	}
	if (ret == 0) {
		tpu_node_set_found(found, shown, &one.place, one.first_zone);
		json_decref(one.body);
	}
	arena_free(mem);
	return ret;
}

/* ---- making -------------------------------------------------------------- */

int tpu_node_request(void *arg, const struct resource *want,
		     const struct tpu_places *places, const char *zone,
		     struct arena *mem, const char **operation,
		     struct error *err)
{
	struct tpu_ctx *ctx = arg;
	const struct tpu_node_place place = { places->project, zone };
	const char *query[] = { "nodeId", want->name, NULL };
	char *path = tpu_node_collection(want->kind->name, &place);
	json_t *body = tpu_node_node_now(want, time_now_ms());
	int ret;

	tpu_owner_put(ctx, json_object_get(body, "labels"));
	ret = tpu_create(ctx->google, TPU_API_V1, path, query, body, mem,
			 operation, err);
	json_decref(body);
	free(path);
	return ret;
}

/* Removes the node in all zones where it may be. */
static int remove_all(struct tpu_ctx *ctx, const struct resource *it,
		      struct error *err)
{
	struct arena *mem = arena_new();
	struct tpu_places places;
	int ret = tpu_places_find(ctx->google, it, mem, &places, err);
	size_t i;

	for (i = 0; ret == 0 && i < places.count; i++) {
		const struct tpu_node_place place = { places.project,
						      places.zones[i] };
		char *path = tpu_node_path(it, &place);

		ret = tpu_delete(ctx->google, TPU_API_V1, path, err);
		free(path);
	}
	arena_free(mem);
	return ret;
}

static int node_create(void *arg, const struct resource *want,
		       struct error *err)
{
	struct tpu_ctx *ctx = arg;
	struct arena *mem = arena_new();
	struct found_node one;
	int ret = look(ctx, want, mem, &one, err);

	/* A node that an earlier try has left is adopted, unless it is lost. */
	if (ret == 0 && one.body && one.phase == TPU_LOST)
		ret = remove_all(ctx, want, err);
	if (ret == 0 && (!one.body || one.phase == TPU_LOST))
		ret = making_start(&ctx->maker, want, err);
	json_decref(one.body);
	arena_free(mem);
	return ret;
}

static int node_delete(void *arg, const struct resource *have,
		       struct error *err)
{
	struct tpu_ctx *ctx = arg;

	making_done(&ctx->maker, have->name);
	return remove_all(ctx, have, err);
}

static int judge(struct tpu_ctx *ctx, const struct resource *have,
		 const struct found_node *one, enum wait_state *out,
		 struct error *err)
{
	const struct tpu_node *node = &one->node;
	char what[400];
	int ret;

	if (!one->body) {
		ret = making_again(&ctx->maker, have, err);
		*out = WAIT_PENDING;
		return ret ? (ret < 0 ? -1 : 0)
			   : error_set_final(err, ERROR_FAILED, "it is gone");
	}
	if (one->phase == TPU_LOST)
		return error_set_final(err, ERROR_FAILED, "it is lost: %s",
				       node->state);
	if (tpu_node_differs(node, have->properties, what, sizeof(what)))
		return error_set_final(err, ERROR_FAILED,
				       "it has %s, which the plan expects: "
				       "nothing is started on it",
				       what);
	if (one->phase == TPU_USABLE) {
		making_done(&ctx->maker, have->name);
		*out = WAIT_DONE;
		return 0;
	}
	snprintf(what, sizeof(what), "%s%s%s%s%s in %s%s", node->state,
		 *node->health ? ", " : "", node->health,
		 *node->health_text ? ": " : "", node->health_text,
		 one->place.zone, making_passed(&ctx->maker, have->name));
	making_pending(&ctx->maker, have->name);
	*out = WAIT_PENDING;
	return tpu_node_pending(
		have, json_get_text(one->body, "createTime", ""), what, err);
}

static int node_wait(void *arg, const struct resource *have,
		     enum wait_state *out, struct error *err)
{
	struct tpu_ctx *ctx = arg;
	struct arena *mem = arena_new();
	struct error waits = { 0 };
	struct found_node one = { 0 };
	int ret = making_look(&ctx->maker, have, &waits);

	if (ret < 0) {
		*err = waits;
	} else if (look_again(ctx, have, mem, &one, err) < 0) {
		ret = -1;
	} else if (ret == 1 && !one.body) {
		*err = waits;
		*out = WAIT_PENDING;
		ret = 0;
	} else {
		ret = judge(ctx, have, &one, out, err);
		json_decref(one.body);
	}
	arena_free(mem);
	return ret;
}

/* ---- keeping ------------------------------------------------------------- */

/* Where that is not allowed, the label stays as far off as it was made. */
static int node_renew(void *arg, const struct resource *have, struct error *err)
{
	struct tpu_ctx *ctx = arg;
	struct error ignored;
	long lease_s = 0;
	struct arena *mem;
	struct found_node one;
	char *path;
	int ret;

	duration_parse(json_get_text(have->properties, "lease", "0s"), &lease_s,
		       &ignored);
	if (!lease_s ||
	    !making_renews(&ctx->maker, have->name, lease_s / RENEWALS))
		return 0;
	mem = arena_new();
	ret = look(ctx, have, mem, &one, err);
	if (ret == 0 && one.body) {
		path = tpu_node_path(have, &one.place);
		ret = tpu_owner_renew(ctx, path,
				      json_object_get(one.body, "labels"),
				      lease_s, err);
		free(path);
	}
	json_decref(one.body);
	arena_free(mem);
	return ret;
}

/* ---- listing ------------------------------------------------------------- */

struct tpunode_list {
	struct tpu_ctx *ctx;
	struct listing *out;
	struct arena *mem;
};

/* Whether there are VMs beside the node; assumed if that can't be found out. */
static bool has_group(struct tpu_ctx *ctx, const char *name,
		      const struct tpu_node_place *place)
{
	const struct resource group = { .kind = &kind_instance_group,
					.name = name };
	char *path = tpu_node_path(&group, place);
	struct error ignored;
	json_t *body = NULL;
	int ret = compute_get(ctx->google, path, &body, &ignored);

	json_decref(body);
	free(path);
	return ret < 0 || body;
}

static void add_node(void *arg, const json_t *node)
{
	struct tpunode_list *list = arg;
	const char *path = json_get_text(node, "name", "");
	struct tpu_node_place place;

	if (!google_labels_read(json_object_get(node, "labels")).job_id ||
	    !place_split(path, list->mem, &place.project, &place.zone))
		return;
	tpu_node_list_one(list->out, &kind_tpu_node, path_base(path), &place,
			  json_object_get(node, "labels"),
			  json_get_text(node, "description", NULL),
			  json_get_text(node, "createTime", ""),
			  has_group(list->ctx, path_base(path), &place));
}

static int node_list(void *arg, const char *where, struct listing *out,
		     struct error *err)
{
	struct tpu_ctx *ctx = arg;
	struct tpunode_list list = { .ctx = ctx,
				     .out = out,
				     .mem = arena_new() };
	int ret = tpu_list(ctx->google, TPU_API_V1, where, "nodes", add_node,
			   &list, err);

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
	.renew = node_renew,
	.list = node_list,
};
