/* SPDX-License-Identifier: Apache-2.0 */
/* The VMs beside a TPU node: their template, and the group that is made of
 * it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "providers/google/compute.h"
#include "providers/google/labels.h"
#include "providers/google/login.h"
#include "providers/google/place.h"
#include "providers/tpunode/place.h"

#define POLL_MS 2000

/* ---- what the two have in common ----------------------------------------- */

static int get(struct tpu_node_ctx *ctx, const struct resource *it,
	       struct arena *mem, struct tpu_node_place *place, json_t **out,
	       struct error *err)
{
	char *path;
	int ret;

	if (tpu_node_place(ctx, it, mem, place, err) < 0)
		return -1;
	path = tpu_node_path(it, place);
	ret = compute_get(ctx->google, path, out, err);
	free(path);
	return ret;
}

static int insert(struct tpu_node_ctx *ctx, const struct resource *want,
		  const struct tpu_node_place *place, const json_t *body,
		  struct error *err)
{
	char *path = tpu_node_collection(want->kind->name, place);
	int ret = compute_insert(ctx->google, path, body, err);

	free(path);
	return ret;
}

static int vms_delete(void *arg, const struct resource *have, struct error *err)
{
	struct tpu_node_ctx *ctx = arg;
	struct arena *mem = arena_new();
	struct tpu_node_place place;
	char *path;
	int ret = tpu_node_place(ctx, have, mem, &place, err);

	if (ret == 0) {
		path = tpu_node_path(have, &place);
		ret = compute_delete(ctx->google, path, err);
		free(path);
	}
	arena_free(mem);
	return ret;
}

static json_t *copy_of(const json_t *wanted)
{
	json_t *out = json_deep_copy(wanted);

	return out ? out : json_object();
}

static const char *item_of(const json_t *metadata, const char *key)
{
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(metadata, "items"), i,
			   item) if (!strcmp(json_get_text(item, "key", ""),
					     key)) return json_get_text(item,
									"value",
									NULL);
	return NULL;
}

/* ---- the template --------------------------------------------------------- */

static int template_read(void *arg, const struct resource *want,
			 struct resource *found, struct error *err)
{
	struct arena *mem = arena_new();
	struct tpu_node_place place;
	json_t *body = NULL, *shown = NULL;
	int ret = get(arg, want, mem, &place, &body, err);

	if (ret == 0 && body) {
		shown = copy_of(want->properties);
		json_put_text(shown, "machineType",
			      json_get_text(json_object_get(body, "properties"),
					    "machineType", ""));
	}
	if (ret == 0)
		tpu_node_set_found(found, shown, &place);
	json_decref(body);
	arena_free(mem);
	return ret;
}

static int template_create(void *arg, const struct resource *want,
			   struct error *err)
{
	struct tpu_node_ctx *ctx = arg;
	struct arena *mem = arena_new();
	struct tpu_node_place place;
	char *key = NULL;
	json_t *body;
	int ret = tpu_node_place(ctx, want, mem, &place, err);

	if (ret == 0)
		ret = login_key(want->properties, &key, err);
	if (ret == 0) {
		body = tpu_node_template_now(want, &place,
					     login_user(want->properties, mem),
					     key, time_now_ms());
		ret = insert(ctx, want, &place, body, err);
		json_decref(body);
	}
	free(key);
	arena_free(mem);
	return ret;
}

/* Those of jobs; each says in which zone the rest of them is. */
static int list_templates(struct tpu_node_ctx *ctx, const char *project,
			  json_t **out, struct error *err)
{
	char *path =
		mem_printf("projects/%s/global/instanceTemplates", project);
	int ret = compute_list(ctx->google, path, NULL, out, err);

	free(path);
	return ret;
}

struct template
{
	const char *name;
	const json_t *labels;
	const char *job_id;
	struct tpu_node_place place;
	const char *created;
};

static bool read_template(const json_t *body, const char *project,
			  struct template *out)
{
	const json_t *properties = json_object_get(body, "properties");
	const json_t *metadata = json_object_get(properties, "metadata");

	*out = (struct template){
		.name = json_get_text(body, "name", ""),
		.labels = json_object_get(properties, "labels"),
		.job_id = item_of(metadata, "jobrun-job"),
		.place = { project, item_of(metadata, "jobrun-zone") },
		.created = json_get_text(body, "creationTimestamp", ""),
	};
	return out->job_id && out->place.zone;
}

/* A group is not listed without its zone, but has no life without its
 * template either. */
static int list_by_templates(void *arg, const char *where,
			     const struct kind *kind, struct listing *out,
			     struct error *err)
{
	struct tpu_node_ctx *ctx = arg;
	struct arena *mem = arena_new();
	const char *project = place_project(ctx->google, where, mem);
	json_t *all = NULL, *item, *group;
	struct template one;
	size_t i;
	int ret = 0;

	if (project)
		ret = list_templates(ctx, project, &all, err);
	/* Who may not look has made nothing here. */
	if (ret < 0 && !where && err->code == ERROR_DENIED)
		ret = 0;
	json_array_foreach(all, i, item)
	{
		const struct resource it = {
			.kind = kind, .name = json_get_text(item, "name", "")
		};
		char *path;

		if (ret < 0 || !read_template(item, project, &one))
			continue;
		path = tpu_node_path(&it, &one.place);
		group = NULL;
		if (kind == &kind_instance_group)
			ret = compute_get(ctx->google, path, &group, err);
		if (ret == 0 && (group || kind != &kind_instance_group))
			tpu_node_list_one(out, kind, one.name, &one.place,
					  one.labels, one.job_id, one.created);
		json_decref(group);
		free(path);
	}
	json_decref(all);
	arena_free(mem);
	return ret;
}

static int template_list(void *ctx, const char *where, struct listing *out,
			 struct error *err)
{
	return list_by_templates(ctx, where, &kind_instance_template, out, err);
}

const struct kind kind_instance_template = {
	.name = "instance-template",
	.flags = KIND_FOR_RUN,
	.read = template_read,
	.adapt = tpu_node_adapt,
	.create = template_create,
	.delete = vms_delete,
	.list = template_list,
};

/* ---- the group ------------------------------------------------------------ */

/* How its VMs are: all run, or what is not as it should be. */
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

static int look_at_vms(struct tpu_node_ctx *ctx, const char *path,
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

static void put_host(const json_t *vm, const char *user, json_t *hosts,
		     json_t *addresses)
{
	const json_t *card =
		json_array_get(json_object_get(vm, "networkInterfaces"), 0);
	const char *inside = json_get_text(card, "networkIP", "");
	const char *ip = json_get_text(
		json_array_get(json_object_get(card, "accessConfigs"), 0),
		"natIP", inside);
	char *host =
		mem_printf("%s%s%s", user ? user : "", user ? "@" : "", ip);

	json_array_append_new(hosts, json_text(host));
	json_array_append_new(addresses, json_text(inside));
	free(host);
}

/* In the order of their names, which stays. */
static int put_hosts(struct tpu_node_ctx *ctx, const struct resource *want,
		     const struct tpu_node_place *place, json_t *outputs,
		     struct error *err)
{
	const char *user = json_get_text(want->properties, "sshUser", NULL);
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
		put_host(sorted[i], user, hosts, addresses);
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
	struct tpu_node_ctx *ctx = arg;
	struct arena *mem = arena_new();
	struct group_state state = { 0 };
	struct tpu_node_place place;
	json_t *body = NULL, *shown = NULL;
	char *path = NULL;
	int ret = get(ctx, want, mem, &place, &body, err);

	if (ret < 0 || !body)
		goto out;
	path = tpu_node_path(want, &place);
	ret = look_at_vms(ctx, path, &state, err);
	if (ret < 0)
		goto out;
	shown = copy_of(want->properties);
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
		tpu_node_set_found(found, shown, &place);
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
	struct tpu_node_ctx *ctx = arg;
	struct arena *mem = arena_new();
	struct tpu_node_place place;
	int ret = tpu_node_place(ctx, want, mem, &place, err);

	if (ret == 0)
		ret = insert(ctx, want, &place,
			     json_object_get(want->request, "body"), err);
	arena_free(mem);
	return ret;
}

static int group_wait(void *arg, const struct resource *have,
		      enum wait_state *out, struct error *err)
{
	struct tpu_node_ctx *ctx = arg;
	struct arena *mem = arena_new();
	struct tpu_node_place place;
	struct group_state state;
	json_t *body = NULL;
	char *path = NULL;
	char what[400];
	size_t size;
	int ret = get(ctx, have, mem, &place, &body, err);

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
	return list_by_templates(ctx, where, &kind_instance_group, out, err);
}

const struct kind kind_instance_group = {
	.name = "instance-group",
	.flags = KIND_BILLED | KIND_FOR_RUN,
	.poll_ms = POLL_MS,
	.read = group_read,
	.adapt = tpu_node_adapt,
	.create = group_create,
	.delete = vms_delete,
	.wait = group_wait,
	.list = group_list,
};
