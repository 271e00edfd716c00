/* SPDX-License-Identifier: Apache-2.0 */
/* The instance template of the VMs beside a TPU node; only templates tell which
 * jobs exist. */
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "providers/google/compute.h"
#include "providers/google/auth/login.h"
#include "providers/google/google_place.h"
#include "providers/tpunode/template.h"
#include "providers/google/tpu/tpu_call.h"
#include "providers/google/tpu/tpu_ctx.h"
#include "providers/google/tpu/tpu_places.h"
#include "providers/tpunode/tpunode.h"
#include "providers/tpunode/tpunode_body.h"
#include "providers/tpunode/tpunode_place.h"
#include "providers/tpunode/vms.h"

static const char *item_of(const json_t *metadata, const char *key)
{
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(metadata, "items"), i, item)
	{
		if (!strcmp(json_get_text(item, "key", ""), key))
			return json_get_text(item, "value", NULL);
	}
	return NULL;
}

static int template_read(void *arg, const struct resource *want,
			 struct resource *found, struct error *err)
{
	struct arena *mem = arena_new();
	struct tpu_node_place place;
	json_t *body = NULL, *shown = NULL;
	int ret = tpu_node_vms_get(arg, want, mem, &place, &body, err);

	if (ret == 0 && body) {
		shown = tpu_node_shown(want);
		json_put_text(shown, "machineType",
			      json_get_text(json_object_get(body, "properties"),
					    "machineType", ""));
	}
	if (ret == 0)
		tpu_node_set_found(found, shown, &place, place.zone);
	json_decref(body);
	arena_free(mem);
	return ret;
}

static int template_create(void *arg, const struct resource *want,
			   struct error *err)
{
	struct tpu_ctx *ctx = arg;
	struct arena *mem = arena_new();
	struct tpu_places places;
	struct tpu_node_place place;
	char *key = NULL;
	json_t *body;
	int ret = tpu_places_find(ctx->google, want, mem, &places, err);

	if (ret == 0)
		ret = login_key(want->properties, tpu_key_root(want), &key,
				err);
	if (ret == 0) {
		tpu_node_place_at(want, &places, 0, &place);
		body = tpu_node_template_now(want, &places,
					     login_user(want->properties, mem),
					     key, time_now_ms());
		ret = tpu_node_vms_insert(ctx, want, &place, body, err);
		json_decref(body);
	}
	free(key);
	arena_free(mem);
	return ret;
}

/* Lists the templates of jobs; each names the zones where the other resources
 * of its job may be. */
static int list_templates(struct tpu_ctx *ctx, const char *project,
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
	const char *zones; /* "europe-west4-a us-central1-a" */
	const char *created;
};

static bool read_template(const json_t *body, struct template *out)
{
	const json_t *properties = json_object_get(body, "properties");
	const json_t *metadata = json_object_get(properties, "metadata");

	*out = (struct template){
		.name = json_get_text(body, "name", ""),
		.labels = json_object_get(properties, "labels"),
		.job_id = item_of(metadata, "jobrun-job"),
		.zones = item_of(metadata, "jobrun-zones"),
		.created = json_get_text(body, "creationTimestamp", ""),
	};
	return out->job_id && out->zones;
}

/* The labels of the node of that name, which move with its lease; or those of
 * the template, which nothing changes.  Returns new. */
static json_t *labels_there(struct tpu_ctx *ctx, const struct template *one,
			    const struct tpu_node_place *place)
{
	const struct resource node = { .kind = &kind_tpu_node,
				       .name = one->name };
	char *path = tpu_node_path(&node, place);
	json_t *body = NULL, *labels;
	struct error ignored;

	if (tpu_get(ctx->google, TPU_API_V1, path, &body, &ignored) < 0)
		body = NULL;
	labels = json_incref(json_object_get(body, "labels"));
	json_decref(body);
	free(path);
	return labels ? labels : json_deep_copy(one->labels);
}

/* A template, or the groups that were made of it. */
static int list_one(struct tpu_ctx *ctx, const char *project,
		    const struct template *one, const struct kind *kind,
		    struct arena *mem, struct listing *out, struct error *err)
{
	const struct resource it = { .kind = kind, .name = one->name };
	const char *at = one->zones;
	bool groups = kind == &kind_instance_group;
	int ret = 0;

	do {
		size_t len = strcspn(at, " ");
		const struct tpu_node_place place = {
			project, arena_strndup(mem, at, len)
		};
		char *path = tpu_node_path(&it, &place);
		json_t *group = NULL;

		if (groups)
			ret = compute_get(ctx->google, path, &group, err);
		if (ret == 0 && (group || !groups)) {
			json_t *labels = labels_there(ctx, one, &place);

			tpu_node_list_one(out, kind, one->name, &place, labels,
					  one->job_id, one->created, true);
			json_decref(labels);
		}
		json_decref(group);
		free(path);
		at += len;
		at += strspn(at, " ");
	} while (ret == 0 && groups && *at);
	return ret;
}

int tpu_node_list_by_templates(void *arg, const char *where,
			       const struct kind *kind, struct listing *out,
			       struct error *err)
{
	struct tpu_ctx *ctx = arg;
	struct arena *mem = arena_new();
	const char *project = place_project(ctx->google, where, mem);
	json_t *all = NULL, *item;
	struct template one;
	size_t i;
	int ret = 0;

	if (project)
		ret = list_templates(ctx, project, &all, err);
	/* Without access to templates this user made none here. */
	if (ret < 0 && !where && error_is_denied(err))
		ret = 0;
	json_array_foreach(all, i, item)
	{
		if (ret == 0 && read_template(item, &one))
			ret = list_one(ctx, project, &one, kind, mem, out, err);
	}
	json_decref(all);
	arena_free(mem);
	return ret;
}

static int template_list(void *ctx, const char *where, struct listing *out,
			 struct error *err)
{
	return tpu_node_list_by_templates(ctx, where, &kind_instance_template,
					  out, err);
}

const struct kind kind_instance_template = {
	.name = "instance-template",
	.flags = KIND_FOR_RUN,
	.read = template_read,
	.adapt = tpu_node_adapt,
	.create = template_create,
	.delete = tpu_node_vms_delete,
	.list = template_list,
};
