/* SPDX-License-Identifier: Apache-2.0 */
/* The managed instance group of the VMs beside a TPU node. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "providers/google/compute.h"
#include "providers/google/iap.h"
#include "providers/google/google_labels.h"
#include "providers/google/tpu/tpu_ctx.h"
#include "providers/google/tpu/tpu_places.h"
#include "providers/tpunode/template.h"
#include "providers/tpunode/tpunode.h"
#include "providers/tpunode/tpunode_body.h"
#include "providers/tpunode/tpunode_place.h"
#include "providers/tpunode/vms.h"

#define POLL_MS 2000

/* The state of a group's VMs: all run, or the reason why not. */
struct group_state {
	size_t count;
	size_t ready;
	bool lost;
	char why[300];
};

static void judge_vm(const json_t *vm, struct group_state *out)
{
	const char *status = json_get_text(vm, "instanceStatus", "");
	const char *action = json_get_text(vm, "currentAction", "NONE");
	const json_t *error = json_array_get(
		json_object_get(
			json_object_get(json_object_get(vm, "lastAttempt"),
					"errors"),
			"errors"),
		0);

	out->count++;
	if (!strcmp(status, "RUNNING") && !strcmp(action, "NONE")) {
		out->ready++;
		return;
	}
	if (!strcmp(action, "NONE") && *status &&
	    strcmp(status, "PROVISIONING") != 0 &&
	    strcmp(status, "STAGING") != 0)
		out->lost = true;
	snprintf(out->why, sizeof(out->why), "%.80s: %s%s%s%.150s",
		 path_base(json_get_text(vm, "instance", "?")),
		 strcmp(action, "NONE") != 0 ? action : status,
		 error ? ", " : "",
		 error ? json_get_text(error, "code", "") : "",
		 error ? json_get_text(error, "message", "") : "");
}

static int look_at_vms(struct tpu_ctx *ctx, const char *path,
		       struct group_state *out, struct error *err)
{
	char *whole = mem_printf("%s/listManagedInstances", path);
	json_t *answer = NULL, *vm;
	size_t i;
	int ret = compute_ask(ctx->google, whole, &answer, err);

	*out = (struct group_state){ 0 };
	json_array_foreach(json_object_get(answer, "managedInstances"), i, vm)
		judge_vm(vm, out);
	json_decref(answer);
	free(whole);
	return ret;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(json_get_text(*(json_t *const *)a, "name", ""),
		      json_get_text(*(json_t *const *)b, "name", ""));
}

static void put_host(const json_t *vm, const struct resource *want,
		     const struct tpu_node_place *place, json_t *hosts,
		     json_t *addresses)
{
	const char *user = json_get_text(want->properties, "sshUser", NULL);
	const struct iap_target through = {
		.project = place->project,
		.zone = place->zone,
		.instance = json_get_text(vm, "name", ""),
	};
	const json_t *card =
		json_array_get(json_object_get(vm, "networkInterfaces"), 0);
	const char *inside = json_get_text(card, "networkIP", "");
	const char *ip = json_get_text(
		json_array_get(json_object_get(card, "accessConfigs"), 0),
		"natIP", inside);
	char *name = json_is_true(json_object_get(want->properties, "iap"))
			     ? iap_host(&through)
			     : mem_strdup(ip);
	char *host =
		mem_printf("%s%s%s", user ? user : "", user ? "@" : "", name);

	json_array_append_new(hosts, json_text(host));
	json_array_append_new(addresses, json_text(inside));
	free(name);
	free(host);
}

/* Lists the hosts by name, an order that does not change. */
static int put_hosts(struct tpu_ctx *ctx, const struct resource *want,
		     const struct tpu_node_place *place, json_t *outputs,
		     struct error *err)
{
	char *path = mem_printf("projects/%s/zones/%s/instances",
				place->project, place->zone);
	json_t *all = NULL, *hosts = json_array(), *addresses = json_array();
	json_t **sorted, *vm;
	size_t i, n = 0, len = strlen(want->name);
	char label[GOOGLE_LABEL_MAX];
	char *filter;
	int ret;

	google_label(want->job->job_id, label);
	filter = mem_printf("labels.jobrun-job=%s", label);
	ret = compute_list(ctx->google, path, filter, &all, err);
	free(filter);
	sorted = mem_alloc((json_array_size(all) + 1) * sizeof(*sorted));
	json_array_foreach(all, i, vm)
	{
		const char *name = json_get_text(vm, "name", "");

		if (!strncmp(name, want->name, len) && name[len] == '-' &&
		    !strchr(name + len + 1, '-'))
			sorted[n++] = vm;
	}
	if (n)
		qsort(sorted, n, sizeof(*sorted), by_name);
	for (i = 0; i < n; i++)
		put_host(sorted[i], want, place, hosts, addresses);
	json_put(outputs, "hosts", hosts);
	json_put(outputs, "addresses", addresses);
	free(sorted);
	json_decref(all);
	free(path);
	return ret;
}

static int group_read(void *arg, const struct resource *want,
		      struct resource *found, struct error *err)
{
	struct tpu_ctx *ctx = arg;
	struct arena *mem = arena_new();
	struct group_state state = { 0 };
	struct tpu_node_place place;
	json_t *body = NULL, *shown = NULL;
	char *path = NULL;
	int ret = tpu_node_vms_get(ctx, want, mem, &place, &body, err);

	if (ret < 0 || !body)
		goto out;
	path = tpu_node_path(want, &place);
	ret = look_at_vms(ctx, path, &state, err);
	if (ret < 0)
		goto out;
	shown = tpu_node_shown(want);
	json_put_int(shown, "size", json_get_int(body, "targetSize", 0));
	if (state.lost)
		json_put_text(shown, "state", state.why);
	else if (state.count &&
		 state.ready == (size_t)json_get_int(body, "targetSize", 0)) {
		found->outputs = json_object();
		ret = put_hosts(ctx, want, &place, found->outputs, err);
	}
out:
	if (ret == 0)
		tpu_node_set_found(found, shown, &place, place.zone);
	else
		json_decref(shown);
	free(path);
	json_decref(body);
	arena_free(mem);
	return ret;
}

static int group_create(void *arg, const struct resource *want,
			struct error *err)
{
	struct tpu_ctx *ctx = arg;
	struct arena *mem = arena_new();
	struct tpu_places places;
	struct tpu_node_place place;
	int ret = tpu_places_find(ctx->google, want, mem, &places, err);

	/* Use the zone where the TPU is, if there are several. */
	if (ret == 0 && tpu_node_place_at(want, &places, 0, &place))
		ret = tpu_node_vms_insert(
			ctx, want, &place,
			json_object_get(want->request, "body"), err);
	arena_free(mem);
	return ret;
}

static int group_wait(void *arg, const struct resource *have,
		      enum wait_state *out, struct error *err)
{
	struct tpu_ctx *ctx = arg;
	struct arena *mem = arena_new();
	struct tpu_node_place place;
	struct group_state state;
	json_t *body = NULL;
	char *path = NULL;
	char what[400];
	size_t size;
	int ret = tpu_node_vms_get(ctx, have, mem, &place, &body, err);

	if (ret == 0 && !body)
		ret = error_set_final(err, ERROR_FAILED, "it is gone");
	if (ret < 0)
		goto out;
	path = tpu_node_path(have, &place);
	ret = look_at_vms(ctx, path, &state, err);
	if (ret < 0)
		goto out;
	size = (size_t)json_get_int(body, "targetSize", 0);
	if (state.lost) {
		ret = error_set_final(err, ERROR_FAILED, "it is lost: %s",
				      state.why);
	} else if (state.ready == size && state.count == size) {
		*out = WAIT_DONE;
	} else {
		snprintf(what, sizeof(what), "%zu of %zu VMs run%s%s",
			 state.ready, size, *state.why ? "; " : "", state.why);
		*out = WAIT_PENDING;
		ret = tpu_node_pending(
			have, json_get_text(body, "creationTimestamp", ""),
			what, err);
	}
out:
	free(path);
	json_decref(body);
	arena_free(mem);
	return ret;
}

static int group_list(void *ctx, const char *where, struct listing *out,
		      struct error *err)
{
	return tpu_node_list_by_templates(ctx, where, &kind_instance_group, out,
					  err);
}

const struct kind kind_instance_group = {
	.name = "instance-group",
	.flags = KIND_BILLED | KIND_FOR_RUN,
	.poll_ms = POLL_MS,
	.read = group_read,
	.adapt = tpu_node_adapt,
	.create = group_create,
	.delete = tpu_node_vms_delete,
	.wait = group_wait,
	.list = group_list,
};
