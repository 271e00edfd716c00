/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/tpuvm/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "providers/google/auth/login.h"
#include "providers/google/tpu/tpu_call.h"
#include "providers/google/tpu/tpu_follow.h"
#include "providers/google/tpu/tpu_owner.h"
#include "providers/tpuvm/tpuvm_node.h"

static const char *path_of(const struct tpu_places *places, const char *zone,
			   const char *collection, const char *name,
			   struct arena *mem)
{
	return arena_printf(mem, "projects/%s/locations/%s/%s/%s",
			    places->project, zone, collection, name);
}

/* ---- its VMs ------------------------------------------------------------ */

static const char *attribute(const json_t *worker, const char *key)
{
	const json_t *items =
		json_object_get(json_object_get(worker, "queryValue"), "items");
	const json_t *item;
	size_t i;

	json_array_foreach(items, i, item)
	{
		if (!strcmp(json_get_text(item, "key", ""), key))
			return json_get_text(item, "value", NULL);
	}
	return NULL;
}

int tpu_vm_instances(struct tpu_ctx *ctx, const struct tpu_vm_node *node,
		     struct arena *mem, const char *const **out,
		     struct error *err)
{
	size_t count = node->node.endpoint_count, i;
	const char **names = arena_alloc(mem, (count + 1) * sizeof(*names));
	struct api_answer answer = { 0 };
	json_t *nothing = json_object();
	int ret =
		tpu_call(ctx->google, TPU_API_V2, "POST",
			 arena_printf(mem, "%s:getGuestAttributes", node->path),
			 NULL, nothing, &answer, err);
	const json_t *all = json_object_get(answer.body, "guestAttributes");

	for (i = 0; ret == 0 && names && i < count; i++) {
		const char *name =
			attribute(json_array_get(all, i), "hostname");

		if (name)
			names[i] = arena_strdup(mem, name);
		else
			names = NULL;
	}
	if (ret == 0)
		*out = names;
	api_answer_done(&answer);
	json_decref(nothing);
	return ret;
}

/* ---- what there is ------------------------------------------------------ */

void tpu_vm_state_done(struct tpu_vm_state *state)
{
	size_t i;

	for (i = 0; i < state->count; i++)
		json_decref(state->nodes[i].body);
	json_decref(state->queue);
	*state = (struct tpu_vm_state){ 0 };
}

const json_t *tpu_vm_labels(const struct tpu_vm_state *state)
{
	return json_object_get(state->worst ? state->worst->body
					    : tpu_vm_queued_node(state->queue),
			       "labels");
}

static bool is_queued(const struct resource *it)
{
	/* A node found by its labels may be queued or not. */
	return !it->request ||
	       strstr(json_get_text(it->request, "url", ""), "queuedResources");
}

/* Returns the number of slices in the queue's request, or else the desired
 * number. */
static size_t count_slices(const struct resource *it, const json_t *queue)
{
	const json_t *tpu = json_object_get(queue, "tpu");
	const json_t *spec =
		json_array_get(json_object_get(tpu, "nodeSpec"), 0);
	long count = json_get_int(
		json_object_get(spec, "multisliceParams"), "nodeCount",
		spec ? 1 : json_get_int(it->properties, "slices", 1));

	return count > 1 && count <= TPU_VM_SLICES_MAX ? (size_t)count : 1;
}

/* How closely it is looked. */
enum closeness {
	LOOK_SHARED, /* what others have seen a moment ago does */
	LOOK,
	LOOK_AT_ALL, /* also for nodes that an entry cannot have made yet */
};

static int get(struct tpu_ctx *ctx, const char *path, enum closeness how,
	       json_t **out, struct error *err)
{
	return how == LOOK_SHARED
		       ? tpu_follow(ctx, TPU_API_V2, path, out, err)
		       : tpu_get(ctx->google, TPU_API_V2, path, out, err);
}

/* Whether the entry only waits: its nodes come later. */
static bool only_waits(const json_t *queue)
{
	const char *state =
		json_get_text(json_object_get(queue, "state"), "state", "");

	return !strcmp(state, "ACCEPTED") ||
	       !strcmp(state, "WAITING_FOR_RESOURCES");
}

static int look_at_nodes(struct tpu_ctx *ctx, enum closeness how,
			 struct tpu_vm_state *state, struct arena *mem,
			 struct error *err)
{
	size_t i;

	for (i = 0; i < state->count; i++) {
		struct tpu_vm_node *one = &state->nodes[i];

		if (get(ctx, one->path, how, &one->body, err) < 0)
			return -1;
		if (!one->body)
			continue;
		state->there++;
		tpu_node_read(one->body, TPU_API_V2, mem, &one->node);
		if (!state->worst ||
		    tpu_node_phase(&one->node) >
			    tpu_node_phase(&state->worst->node))
			state->worst = one;
	}
	return 0;
}

static int look_in(struct tpu_ctx *ctx, const struct resource *it,
		   const struct tpu_places *places, const char *zone,
		   enum closeness how, struct arena *mem,
		   struct tpu_vm_state *out, struct error *err)
{
	size_t i;

	*out = (struct tpu_vm_state){ 0 };
	if (is_queued(it) &&
	    get(ctx, path_of(places, zone, "queuedResources", it->name, mem),
		how, &out->queue, err) < 0)
		return -1;
	out->count = count_slices(it, out->queue);
	out->nodes = arena_alloc(mem, out->count * sizeof(*out->nodes));
	for (i = 0; i < out->count; i++)
		out->nodes[i] = (struct tpu_vm_node){
			.path = path_of(places, zone, "nodes",
					out->count > 1
						? arena_printf(mem, "%s-%zu",
							       it->name, i)
						: it->name,
					mem)
		};
	if ((how == LOOK_AT_ALL || !only_waits(out->queue)) &&
	    look_at_nodes(ctx, how, out, mem, err) < 0) {
		tpu_vm_state_done(out);
		return -1;
	}
	if (out->there || out->queue)
		out->zone = zone;
	return 0;
}

static int search(struct tpu_ctx *ctx, const struct resource *it,
		  enum closeness how, struct arena *mem,
		  struct tpu_vm_state *out, struct error *err)
{
	struct tpu_places places;
	struct tpu_vm_state one = { 0 };
	char why[64];
	size_t i;

	*out = (struct tpu_vm_state){ 0 };
	if (tpu_places_find(ctx->google, it, mem, &places, err) < 0)
		return -1;
	for (i = 0; i < places.count; i++) {
		if (look_in(ctx, it, &places, places.zones[i], how, mem, &one,
			    err) < 0) {
			tpu_vm_state_done(&one);
			tpu_vm_state_done(out);
			return -1;
		}
		if (!one.zone ||
		    (out->zone && tpu_vm_is_lost(&one, why, sizeof(why)))) {
			tpu_vm_state_done(&one);
			continue;
		}
		tpu_vm_state_done(out);
		*out = one;
		if (!tpu_vm_is_lost(out, why, sizeof(why)))
			break;
	}
	return 0;
}

int tpu_vm_look(struct tpu_ctx *ctx, const struct resource *it,
		struct arena *mem, struct tpu_vm_state *out, struct error *err)
{
	return search(ctx, it, LOOK, mem, out, err);
}

static bool is_pending(const struct tpu_vm_state *state)
{
	struct error ignored;
	char why[256];

	return state->zone && !tpu_vm_is_refused(state, &ignored) &&
	       !tpu_vm_is_lost(state, why, sizeof(why)) &&
	       !tpu_vm_is_usable(state);
}

int tpu_vm_look_again(struct tpu_ctx *ctx, const struct resource *it,
		      struct arena *mem, struct tpu_vm_state *out,
		      struct error *err)
{
	if (!making_is_pending(&ctx->maker, it->name))
		return tpu_vm_look(ctx, it, mem, out, err);
	if (search(ctx, it, LOOK_SHARED, mem, out, err) < 0)
		return -1;
	if (is_pending(out))
		return 0;
	tpu_vm_state_done(out);
	return tpu_vm_look(ctx, it, mem, out, err);
}

bool tpu_vm_is_lost(const struct tpu_vm_state *state, char *why, size_t size)
{
	const json_t *queue = json_object_get(state->queue, "state");
	const char *queued = json_get_text(queue, "state", "");
	const json_t *failed =
		json_object_get(json_object_get(queue, "failedData"), "error");

	if (!strcmp(queued, "FAILED") || !strcmp(queued, "SUSPENDED") ||
	    !strcmp(queued, "SUSPENDING")) {
		snprintf(why, size, "%s%s%s", queued, failed ? ": " : "",
			 json_get_text(failed, "message", ""));
		return true;
	}
	if (state->worst && tpu_node_phase(&state->worst->node) == TPU_LOST) {
		snprintf(why, size, "%s", state->worst->node.state);
		return true;
	}
	/* The queued request is done and will create no other slices. */
	if (state->count > 1 && !strcmp(queued, "ACTIVE") &&
	    state->there < state->count) {
		snprintf(why, size, "%zu of %zu slices are gone",
			 state->count - state->there, state->count);
		return true;
	}
	return false;
}

/* DEADLINE_EXCEEDED of google.rpc.Code: the time of validFor is over. */
#define CODE_TOO_LATE 4

bool tpu_vm_is_refused(const struct tpu_vm_state *state, struct error *err)
{
	const json_t *queue = json_object_get(state->queue, "state");
	const json_t *failed =
		json_object_get(json_object_get(queue, "failedData"), "error");

	if (state->there || !failed ||
	    strcmp(json_get_text(queue, "state", ""), "FAILED") != 0)
		return false;
	api_error_operation(failed, err);
	if (json_get_int(failed, "code", 0) == CODE_TOO_LATE) {
		err->code = ERROR_TRY_AGAIN;
		err->final = true;
	}
	return err->code == ERROR_TRY_AGAIN;
}

bool tpu_vm_is_usable(const struct tpu_vm_state *state)
{
	return state->there && state->there == state->count &&
	       tpu_node_phase(&state->worst->node) == TPU_USABLE;
}

bool tpu_vm_differs(const struct tpu_vm_state *state, const struct resource *it,
		    char *why, size_t size)
{
	size_t i;

	for (i = 0; i < state->count; i++)
		if (state->nodes[i].body &&
		    tpu_node_differs(&state->nodes[i].node, it->properties, why,
				     size))
			return true;
	return false;
}

/* ---- making ------------------------------------------------------------- */

int tpu_vm_request(void *arg, const struct resource *want,
		   const struct tpu_places *places, const char *zone,
		   struct arena *mem, const char **operation, struct error *err)
{
	struct tpu_ctx *ctx = arg;
	bool queued = is_queued(want);
	const char *parent = arena_printf(mem, "projects/%s/locations/%s",
					  places->project, zone);
	/* A node's name alone tells that it is the same request. */
	const char *query[] = { queued ? "queuedResourceId" : "nodeId",
				want->name, NULL };
	const struct tpu_change change = {
		.once = want->once,
		.query = query,
		.version = tpu_vm_version(want->properties),
	};
	struct tpu_vm_making making = {
		.node = path_of(places, zone, "nodes", want->name, mem),
		.zone = zone,
		.project = places->project,
		.user = login_user(want->properties, mem),
		.now_ms = time_now_ms(),
	};
	char *key = NULL;
	json_t *body;
	int ret;

	if (login_key(want->properties, tpu_key_root(want), &key, err) < 0)
		return -1;
	making.public_key = key;
	body = tpu_vm_body_complete(want, &making);
	tpu_owner_put(ctx, json_object_get(tpu_vm_sent_node(body), "labels"));
	*operation = NULL;
	if (queued)
		ret = tpu_queue_create(
			ctx->google, &change,
			arena_printf(mem, "%s/queuedResources", parent),
			want->name, body, err);
	else
		ret = tpu_create(ctx->google, TPU_API_V2,
				 arena_printf(mem, "%s/nodes", parent), query,
				 body, mem, operation, err);
	json_decref(body);
	free(key);
	return ret;
}

/* ---- deleting ----------------------------------------------------------- */

int tpu_vm_remove(struct tpu_ctx *ctx, const struct resource *it,
		  struct error *err)
{
	static const char *const force[] = { "force", "true", NULL };
	const struct tpu_change change = { .once = it->once, .query = force };
	struct arena *mem = arena_new();
	struct tpu_places places;
	int ret = tpu_places_find(ctx->google, it, mem, &places, err);
	size_t i;

	for (i = 0; ret == 0 && i < places.count; i++) {
		const char *zone = places.zones[i];
		struct tpu_vm_state state;
		size_t j;

		ret = look_in(ctx, it, &places, zone, LOOK_AT_ALL, mem, &state,
			      err);
		if (ret == 0 && state.queue)
			ret = tpu_queue_delete(ctx->google, &change,
					       path_of(&places, zone,
						       "queuedResources",
						       it->name, mem),
					       err);
		for (j = 0; ret == 0 && j < state.count; j++)
			if (state.nodes[j].body)
				ret = tpu_delete(ctx->google, TPU_API_V2,
						 state.nodes[j].path, err);
		tpu_vm_state_done(&state);
	}
	arena_free(mem);
	return ret;
}

/* ---- keeping ------------------------------------------------------------ */

int tpu_vm_renew(struct tpu_ctx *ctx, const struct tpu_vm_state *state,
		 long lease_s, struct error *err)
{
	size_t i;

	for (i = 0; i < state->count; i++)
		if (state->nodes[i].body &&
		    tpu_owner_renew(
			    ctx, state->nodes[i].path,
			    json_object_get(state->nodes[i].body, "labels"),
			    lease_s, err) < 0)
			return -1;
	return 0;
}
