/* SPDX-License-Identifier: Apache-2.0 */
/* The node of a job as a resource. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/provider/listing.h"
#include "providers/google/iap.h"
#include "providers/google/google_labels.h"
#include "providers/google/tpu/tpu_call.h"
#include "providers/google/tpu/tpu_owner.h"
#include "providers/tpuvm/tpuvm_node.h"
#include "providers/tpuvm/service.h"
#include "providers/tpuvm/tpuvm.h"

#define POLL_MS 2000
/* The lease is renewed after a quarter of its time. */
#define RENEWALS 4

/* ---- reading ------------------------------------------------------------ */

/* Returns how ssh reaches a VM: `through` the proxy, or if that is NULL by the
 * VM's address. */
static json_t *host_json(const struct tpu_endpoint *vm,
			 const struct iap_target *through, const char *user)
{
	const char *ip = vm->external_ip ? vm->external_ip : vm->ip;
	char *name = through           ? iap_host(through)
		     : strchr(ip, ':') ? mem_printf("[%s]", ip)
				       : mem_strdup(ip);
	char *host =
		mem_printf("%s%s%s", user ? user : "", user ? "@" : "", name);
	json_t *out = json_text(host);

	free(host);
	free(name);
	return out;
}

static bool is_through_iap(const struct resource *it)
{
	return json_is_true(json_object_get(it->properties, "iap"));
}

/* Sets where ssh reaches the VMs, slice after slice, and their names; returns 1
 * if that is not known yet. */
static int put_hosts(struct tpu_ctx *ctx, const struct tpu_vm_state *state,
		     const struct resource *it, const char *project,
		     struct arena *mem, json_t *outputs, struct error *err)
{
	const char *user = json_get_text(it->properties, "sshUser", NULL);
	struct iap_target through = { .project = project, .zone = state->zone };
	json_t *hosts = json_array(), *addresses = json_array();
	const char *const *names = NULL;
	bool iap = is_through_iap(it);
	size_t i, j;
	int ret = 0;

	for (i = 0; i < state->count && ret == 0; i++) {
		const struct tpu_node *node = &state->nodes[i].node;

		if (iap)
			ret = tpu_vm_instances(ctx, &state->nodes[i], mem,
					       &names, err);
		if (ret == 0 && iap && !names)
			ret = 1;
		for (j = 0; j < node->endpoint_count && ret == 0; j++) {
			const struct tpu_endpoint *vm = &node->endpoints[j];

			through.instance = iap ? names[j] : NULL;
			json_array_append_new(
				hosts,
				host_json(vm, iap ? &through : NULL, user));
			json_array_append_new(addresses, json_text(vm->ip));
		}
	}
	if (ret == 0) {
		json_put(outputs, "hosts", hosts);
		json_put(outputs, "addresses", addresses);
		return 0;
	}
	json_decref(hosts);
	json_decref(addresses);
	return ret;
}

static int node_read(void *arg, const struct resource *want,
		     struct resource *found, struct error *err)
{
	struct tpu_ctx *ctx = arg;
	struct arena *mem = arena_new();
	struct tpu_places places;
	struct tpu_vm_state state = { 0 };
	char why[256];
	int ret = tpu_places_find(ctx->google, want, mem, &places, err);

	if (ret == 0)
		ret = tpu_vm_look(ctx, want, mem, &state, err);
	if (ret < 0)
		goto out;
	found->outputs = json_object();
	json_put_text(found->outputs, "project", places.project);
	json_put_text(found->outputs, "zone",
		      state.zone ? state.zone : places.zones[0]);
	json_put_text(found->outputs, "firstZone", places.zones[0]);
	found->exists = state.zone;
	if (!found->exists)
		goto out;
	/* A queued node has the properties of the node that it will be. */
	found->properties =
		tpu_vm_found(state.worst ? state.worst->body
					 : tpu_vm_queued_node(state.queue),
			     want->properties);
	if (state.count > 1)
		json_put_int(found->properties, "slices",
			     (long long)state.count);
	else
		json_object_del(found->properties, "slices");
	json_put_text(found->properties, "project", places.project);
	json_put_text(found->properties, "zone", places.zones[0]);
	/* A place in the queue has no lease, but one that is lost is free. */
	tpu_owner_tell(ctx, tpu_vm_labels(&state),
		       !state.there &&
			       !tpu_vm_is_lost(&state, why, sizeof(why)),
		       want, found->outputs);
	if (tpu_vm_is_lost(&state, why, sizeof(why)) ||
	    tpu_vm_differs(&state, want, why, sizeof(why))) {
		json_put_text(found->properties, "state", why);
	} else if (tpu_vm_is_usable(&state)) {
		making_done(&ctx->maker, want->name);
		if (put_hosts(ctx, &state, want, places.project, mem,
			      found->outputs, err) < 0)
			ret = -1;
	}
out:
	tpu_vm_state_done(&state);
	arena_free(mem);
	return ret;
}

/* Sets where the node is, or will be if there is capacity. */
static void node_adapt(struct resource *want, const struct resource *found)
{
	const char *url = json_get_text(want->request, "url", NULL);
	struct tpu_place_known at;
	struct buf path = { 0 };

	if (!url)
		return;
	tpu_place_known(want, found, &at);
	endpoint_add(SERVICE_TPU, NULL, &path);
	buf_printf(&path, "%s/projects/%s/locations/%s/%s",
		   tpu_vm_version(want->properties), at.project, at.zone,
		   path_base(url));
	/* The plan shows the first zone wherever the node was found, as all of
	 * them are tried when it is created again. */
	if (!found->unseen) {
		json_put_text(want->properties, "project", at.project);
		json_put_text(want->properties, "zone", at.first_zone);
	}
	json_put_text(want->request, "url", path.data);
	buf_done(&path);
}

/* ---- making ------------------------------------------------------------- */

static int node_create(void *arg, const struct resource *want,
		       struct error *err)
{
	struct tpu_ctx *ctx = arg;
	struct arena *mem = arena_new();
	struct tpu_vm_state state = { 0 };
	char why[256];
	int ret = tpu_vm_look(ctx, want, mem, &state, err);

	/* A node that an earlier try has left is adopted, unless it is lost. */
	if (ret == 0 && state.zone && tpu_vm_is_lost(&state, why, sizeof(why)))
		ret = tpu_vm_remove(ctx, want, err);
	else if (ret == 0 && state.zone)
		goto out;
	if (ret == 0)
		ret = making_start(&ctx->maker, want, err);
out:
	tpu_vm_state_done(&state);
	arena_free(mem);
	return ret;
}

static int node_delete(void *arg, const struct resource *have,
		       struct error *err)
{
	struct tpu_ctx *ctx = arg;

	making_done(&ctx->maker, have->name);
	return tpu_vm_remove(ctx, have, err);
}

/* Writes the state: "CREATING", or "READY, TIMEOUT: the TPU does not
 * answer". */
static void describe_wait(const struct tpu_vm_state *state, struct error *err)
{
	const struct tpu_node *node = state->worst ? &state->worst->node : NULL;
	const char *queued = json_get_text(
		json_object_get(state->queue, "state"), "state", "");
	const char *created = json_get_text(state->queue, "createTime", NULL);
	char since[64] = "";

	/* The time is cut to seconds: "2026-11-27T10:03:21Z". */
	if (created)
		snprintf(since, sizeof(since), " since %.19sZ", created);
	if (!node)
		error_set(err, ERROR_TRY_AGAIN, "%s in the queue of %s%s",
			  queued, state->zone, since);
	else if (state->there < state->count)
		error_set(err, ERROR_TRY_AGAIN,
			  "%s in the queue of %s%s, with %zu of %zu slices",
			  queued, state->zone, since, state->there,
			  state->count);
	else
		error_set(err, ERROR_TRY_AGAIN, "%s%s%s%s%s in %s", node->state,
			  *node->health ? ", " : "", node->health,
			  *node->health_text ? ": " : "", node->health_text,
			  state->zone);
}

/* Checks the time limit, which does not apply while the node is in the
 * queue. */
static int check_time(struct tpu_ctx *ctx, const struct resource *have,
		      const struct tpu_vm_state *state, struct error *err)
{
	const char *limit =
		json_get_text(have->properties, "readyTimeout", "30m");
	struct error ignored;
	long limit_s = 1800;

	duration_parse(limit, &limit_s, &ignored);
	if (!state->worst ||
	    time_monotonic_ms() - making_since(&ctx->maker, have->name) <
		    limit_s * 1000)
		return 0;
	return error_set_final(err, ERROR_TIMEOUT,
			       "not usable after %s (%s): it may take longer "
			       "with jobrun.tpu-vm.readyTimeout",
			       limit, state->worst->node.state);
}

/* Looks whether the VMs can be reached; returns 0, or 1 if that is not known
 * yet. */
static int look_at_names(struct tpu_ctx *ctx, const struct resource *have,
			 const struct tpu_vm_state *state, struct error *err)
{
	struct arena *mem = arena_new();
	json_t *ignored = json_object();
	int ret = put_hosts(ctx, state, have, "", mem, ignored, err);

	json_decref(ignored);
	arena_free(mem);
	return ret;
}

/* Tries the next zone after the queue of this zone has given up. */
static int ask_next_zone(struct tpu_ctx *ctx, const struct resource *have,
			 const struct tpu_vm_state *state, struct error *why,
			 struct error *err)
{
	if (tpu_vm_remove(ctx, have, err) < 0)
		return -1;
	error_prefix(why, "the queue of %s", state->zone);
	if (making_refused(&ctx->maker, have, state->zone, why) < 0) {
		*err = *why;
		return -1;
	}
	return 0;
}

static int judge(struct tpu_ctx *ctx, const struct resource *have,
		 const struct tpu_vm_state *state, enum wait_state *out,
		 struct error *err)
{
	struct error refusal;
	char why[256];
	int ret;

	if (!state->zone) {
		ret = making_again(&ctx->maker, have, err);
		*out = WAIT_PENDING;
		return ret ? (ret < 0 ? -1 : 0)
			   : error_set_final(err, ERROR_FAILED, "it is gone");
	}
	if (have->request && tpu_vm_is_refused(state, &refusal)) {
		*out = WAIT_PENDING;
		return ask_next_zone(ctx, have, state, &refusal, err);
	}
	if (tpu_vm_is_lost(state, why, sizeof(why)))
		return error_set_final(err, ERROR_FAILED, "it is lost: %s",
				       why);
	if (tpu_vm_differs(state, have, why, sizeof(why)))
		return error_set_final(err, ERROR_FAILED,
				       "it has %s, which the plan expects: "
				       "nothing is started on it",
				       why);
	ret = tpu_vm_is_usable(state) ? look_at_names(ctx, have, state, err)
				      : 1;
	if (ret < 0)
		return -1;
	if (!ret) {
		making_done(&ctx->maker, have->name);
		*out = WAIT_DONE;
		return 0;
	}
	if (check_time(ctx, have, state, err) < 0)
		return -1;
	if (tpu_vm_is_usable(state))
		error_set(err, ERROR_TRY_AGAIN,
			  "READY, but its guest attributes do not say yet "
			  "what its VMs are called");
	else
		describe_wait(state, err);
	error_append(err, making_passed(&ctx->maker, have->name));
	making_pending(&ctx->maker, have->name);
	*out = WAIT_PENDING;
	return 0;
}

static int node_wait(void *arg, const struct resource *have,
		     enum wait_state *out, struct error *err)
{
	struct tpu_ctx *ctx = arg;
	struct arena *mem = arena_new();
	struct tpu_vm_state state = { 0 };
	struct error waits = { 0 };
	int ret = making_look(&ctx->maker, have, &waits);

	if (ret < 0) {
		*err = waits;
		goto out;
	}
	if (tpu_vm_look_again(ctx, have, mem, &state, err) < 0) {
		ret = -1;
	} else if (ret == 1 && !state.there) {
		*err = waits;
		*out = WAIT_PENDING;
		ret = 0;
	} else {
		ret = judge(ctx, have, &state, out, err);
	}
out:
	tpu_vm_state_done(&state);
	arena_free(mem);
	return ret;
}

static int node_renew(void *arg, const struct resource *have, struct error *err)
{
	struct tpu_ctx *ctx = arg;
	struct arena *mem;
	struct tpu_vm_state state = { 0 };
	struct error ignored;
	long lease_s = 3600;
	int ret;

	duration_parse(json_get_text(have->properties, "lease", "1h"), &lease_s,
		       &ignored);
	if (!making_renews(&ctx->maker, have->name, lease_s / RENEWALS))
		return 0;
	mem = arena_new();
	ret = tpu_vm_look(ctx, have, mem, &state, err);
	if (ret == 0 && state.there)
		ret = tpu_vm_renew(ctx, &state, lease_s, err);
	tpu_vm_state_done(&state);
	arena_free(mem);
	return ret;
}

/* ---- listing ------------------------------------------------------------ */

struct tpuvm_list {
	struct listing *out;
	struct arena *mem;
	const char **seen; /* paths in the listing so far */
	size_t count;
};

/* Adds a node.  `path` is that of the requested resource, which several slices
 * share. */
static void add_one(struct tpuvm_list *list, const char *path,
		    const json_t *node, const char *created, bool waits)
{
	const json_t *metadata = json_object_get(node, "metadata");
	const char *at = strstr(path, "/nodes/");
	struct labels labels =
		google_labels_read(json_object_get(node, "labels"));
	size_t i;

	at = at ? at : strstr(path, "/queuedResources/");
	if (!labels.job_id || !at)
		return;
	for (i = 0; i < list->count; i++)
		if (!strcmp(list->seen[i], path))
			return;
	list->seen = mem_grow(list->seen, list->count + 1, sizeof(*list->seen));
	list->seen[list->count++] = arena_strdup(list->mem, path);
	/* The metadata has the job's id in its original form. */
	labels.job_id = json_get_text(metadata, "jobrun-job", labels.job_id);
	labels.set = json_get_text(metadata, "jobrun-applyset", NULL);
	labels.renewed = true;
	labels.waits = waits;
	/* Nobody can renew a lease before there is a node. */
	if (waits)
		labels.expire_time_ms = 0;
	listing_add(list->out,
		    &(struct listed){
			    .kind = &kind_tpu_vm,
			    .name = path_base(path),
			    .place = arena_strndup(list->mem, path,
						   (size_t)(at - path)),
			    .labels = labels,
			    .create_time_ms = time_parse(created),
		    });
}

static void add_node(void *arg, const json_t *node)
{
	const char *own = json_get_text(node, "name", "");

	add_one(arg, json_get_text(node, "queuedResource", own), node,
		json_get_text(node, "createTime", ""), false);
}

/* Adds a queued resource; one with nodes was added with them. */
static void add_queued(void *arg, const json_t *queue)
{
	add_one(arg, json_get_text(queue, "name", ""),
		tpu_vm_queued_node(queue),
		json_get_text(queue, "createTime", ""), true);
}

static int node_list(void *arg, const char *where, struct listing *out,
		     struct error *err)
{
	struct tpu_ctx *ctx = arg;
	struct tpuvm_list list = { .out = out, .mem = arena_new() };
	int ret = tpu_list(ctx->google, TPU_API_V2, where, "nodes", add_node,
			   &list, err);

	if (ret == 0)
		ret = tpu_list(ctx->google, TPU_API_V2, where,
			       "queuedResources", add_queued, &list, err);

	free(list.seen);
	arena_free(list.mem);
	return ret;
}

const struct kind kind_tpu_vm = {
	.name = "tpu-vm",
	.flags = KIND_BILLED | KIND_FOR_RUN,
	.poll_ms = POLL_MS,
	.read = node_read,
	.adapt = node_adapt,
	.create = node_create,
	.delete = node_delete,
	.wait = node_wait,
	.renew = node_renew,
	.list = node_list,
};
