/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/tpunode/tpunode_body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/provider/listing.h"
#include "providers/google/base/endpoint.h"
#include "providers/google/google_labels.h"
#include "providers/google/tpu/tpu_startup.h"

#define SCOPE "https://www.googleapis.com/auth/cloud-platform"
/* The image that users of xla_dist had (PyTorch/XLA's README, r1.12). */
#define IMAGE "projects/ml-images/global/images/family/torch-xla"
#define MACHINE "n1-standard-16"
/* The time limit of AI Platform's jobs. */
#define RUNNING_MAX_S (7L * 24 * 3600)

/* Adds metadata of the template, which is deleted last. */
static void put_item(json_t *items, const char *key, const char *value)
{
	json_t *item = json_object();

	json_put_text(item, "key", key);
	json_put_text(item, "value", value);
	json_array_append_new(items, item);
}

static json_t *metadata_json(const struct job *job,
			     const struct tpu_node_block *block)
{
	const char *own = block->startup_script;
	json_t *out = json_object();
	json_t *items = json_array();
	char lease[32];
	char *script;
	size_t i;

	for (i = 0; i < block->metadata.count; i++) {
		const struct pair *one = &block->metadata.items[i];

		if (strcmp(one->name, "startup-script") != 0)
			put_item(items, one->name, one->value);
		else if (!own)
			own = one->value;
	}
	script = tpu_startup_beside(own);
	snprintf(lease, sizeof(lease), "%ld", block->lease_s);
	put_item(items, "startup-script", script);
	put_item(items, "jobrun-job", job->job_id);
	if (job->set)
		put_item(items, "jobrun-applyset", job->set);
	put_item(items, "jobrun-lease", lease);
	json_put(out, "items", items);
	free(script);
	return out;
}

/* Returns a new string with the image in the API's form. */
static char *image_path(const struct tpu_node_block *block, const char *name)
{
	const char *image = block->image;

	if (block->image_from.vm)
		return mem_printf("global/images/%s", name);
	if (!image)
		return mem_strdup(IMAGE);
	if (strchr(image, '/'))
		return mem_strdup(image);
	if (block->image_project)
		return mem_printf("projects/%s/global/images/%s",
				  block->image_project, image);
	return mem_printf("global/images/%s", image);
}

static json_t *disk_json(const struct tpu_node_block *block, const char *name)
{
	json_t *disk = json_object(), *from = json_object();
	char *path = image_path(block, name);
	char text[32];

	json_put_text(from, "sourceImage", path);
	if (block->disk_gb) {
		snprintf(text, sizeof(text), "%ld", block->disk_gb);
		json_put_text(from, "diskSizeGb", text);
	}
	json_put(disk, "boot", json_true());
	json_put(disk, "autoDelete", json_true());
	json_put(disk, "initializeParams", from);
	free(path);
	return disk;
}

/* Returns an existing disk for the template, which takes only its name. */
static json_t *data_disk_json(const char *name)
{
	bool only_read = text_ends(name, ":ro");
	size_t len = strlen(name) - (only_read ? strlen(":ro") : 0);
	char *source = mem_printf("%.*s", (int)len, name);
	json_t *disk = json_object();

	json_put_text(disk, "source", source);
	json_put_text(disk, "mode", only_read ? "READ_ONLY" : "READ_WRITE");
	json_put(disk, "autoDelete", json_false());
	free(source);
	return disk;
}

static json_t *disks_json(const struct tpu_node_block *block, const char *name)
{
	json_t *out = json_array();
	size_t i;

	json_array_append_new(out, disk_json(block, name));
	for (i = 0; i < block->disks.count; i++)
		json_array_append_new(out,
				      data_disk_json(block->disks.items[i]));
	return out;
}

static json_t *interface_json(const struct job *job,
			      const struct tpu_node_block *block)
{
	const char *network =
		job->jobrun.network ? job->jobrun.network : "default";
	json_t *out = json_object();
	char *path = strchr(network, '/')
			     ? mem_strdup(network)
			     : mem_printf("global/networks/%s", network);

	json_put_text(out, "network", path);
	if (block->subnetwork)
		json_put_text(out, "subnetwork", block->subnetwork);
	if (block->external_ips) {
		json_t *list = json_array(), *one = json_object();

		json_put_text(one, "type", "ONE_TO_ONE_NAT");
		json_put_text(one, "name", "External NAT");
		json_array_append_new(list, one);
		json_put(out, "accessConfigs", list);
	}
	free(path);
	return out;
}

static json_t *texts(const struct strings *list)
{
	return json_texts(list->items, list->count);
}

static json_t *account_json(const struct job *job,
			    const struct tpu_node_block *block)
{
	const char *email = job->training_input.service_account;
	json_t *out = json_object();

	json_put_text(out, "email", email ? email : "default");
	if (block->scopes.count)
		json_put(out, "scopes", texts(&block->scopes));
	else
		json_put(out, "scopes",
			 json_texts((const char *const[]){ SCOPE }, 1));
	return out;
}

static json_t *list_of(json_t *one)
{
	json_t *out = json_array();

	json_array_append_new(out, one);
	return out;
}

json_t *tpu_node_template(const struct job *job,
			  const struct tpu_node_block *block, const char *name)
{
	const char *master = job->training_input.master_type;
	json_t *body = json_object(), *properties = json_object();

	json_put_text(properties, "machineType",
		      block->machine_type ? block->machine_type
		      : master            ? master
					  : MACHINE);
	json_put(properties, "disks", disks_json(block, name));
	json_put(properties, "networkInterfaces",
		 list_of(interface_json(job, block)));
	json_put(properties, "serviceAccounts",
		 list_of(account_json(job, block)));
	if (block->tags.count) {
		json_t *tags = json_object();

		json_put(tags, "items", texts(&block->tags));
		json_put(properties, "tags", tags);
	}
	json_put(properties, "labels", google_labels(job));
	json_put(properties, "metadata", metadata_json(job, block));
	json_put_text(body, "name", name);
	json_put(body, "properties", properties);
	return body;
}

json_t *tpu_node_group(const struct job *job, const char *name, unsigned hosts)
{
	json_t *body = json_object();

	json_put_text(body, "name", name);
	/* The service appends four characters to the name of each VM. */
	json_put_text(body, "baseInstanceName", name);
	json_put_text(body, "description", job->job_id);
	json_put_int(body, "targetSize", hosts);
	return body;
}

json_t *tpu_node_node(const struct job *job, const struct tpu_node_block *block,
		      const struct slice *slice)
{
	json_t *body = json_object(), *scheduling;

	json_put_text(body, "acceleratorType", slice->name);
	json_put_text(body, "tensorflowVersion",
		      block->runtime_version ? block->runtime_version : "");
	if (job->jobrun.network)
		json_put_text(body, "network", job->jobrun.network);
	if (block->cidr_block)
		json_put_text(body, "cidrBlock", block->cidr_block);
	if (block->preemptible || block->reserved) {
		scheduling = json_object();
		if (block->preemptible)
			json_put(scheduling, "preemptible", json_true());
		if (block->reserved)
			json_put(scheduling, "reserved", json_true());
		json_put(body, "schedulingConfig", scheduling);
	}
	json_put_text(body, "description", job->job_id);
	json_put(body, "labels", google_labels(job));
	return body;
}

/* ---- as they are sent --------------------------------------------------- */

char *tpu_node_collection(const char *kind, const struct tpu_node_place *place)
{
	if (!strcmp(kind, "instance-template"))
		return mem_printf("projects/%s/global/instanceTemplates",
				  place->project);
	if (!strcmp(kind, "instance-group"))
		return mem_printf("projects/%s/zones/%s/instanceGroupManagers",
				  place->project, place->zone);
	if (text_ends(kind, "disk-image"))
		return mem_printf("projects/%s/global/images", place->project);
	return mem_printf("projects/%s/locations/%s/nodes", place->project,
			  place->zone);
}

void tpu_node_expire(json_t *labels, const struct job *job, int64_t now_ms)
{
	struct labels own = labels_of(job, now_ms);

	if (!own.expire_time_ms)
		own.expire_time_ms = now_ms + RUNNING_MAX_S * 1000;
	google_labels_expire(labels, own.expire_time_ms / 1000);
}

static void add_paths(struct buf *out, enum google_service service,
		      const char *version, const char *kind, const char *name,
		      const struct tpu_places *places)
{
	size_t i;

	for (i = 0; i < places->count; i++) {
		const struct tpu_node_place place = { places->project,
						      places->zones[i] };
		char *path = tpu_node_collection(kind, &place);

		if (out->len)
			buf_putc(out, ' ');
		endpoint_add(service, NULL, out);
		buf_printf(out, "%s%s/%s", version, path, name);
		free(path);
	}
}

/* Returns the script by which a VM deletes unused resources in all zones,
 * itself and its group last. */
static char *removals(const char *name, const struct tpu_places *places)
{
	struct buf out = { 0 };

	add_paths(&out, SERVICE_TPU, "v1/", "tpu-node", name, places);
	add_paths(&out, SERVICE_COMPUTE, "", "instance-group", name, places);
	return buf_take(&out);
}

static char *join_zones(const struct tpu_places *places)
{
	struct buf out = { 0 };
	size_t i;

	for (i = 0; i < places->count; i++)
		buf_printf(&out, "%s%s", i ? " " : "", places->zones[i]);
	return buf_take(&out);
}

json_t *tpu_node_template_now(const struct resource *want,
			      const struct tpu_places *places, const char *user,
			      const char *key, int64_t now_ms)
{
	json_t *body = json_deep_copy(json_object_get(want->request, "body"));
	json_t *properties = json_object_get(body, "properties");
	json_t *items = json_object_get(json_object_get(properties, "metadata"),
					"items");
	char *remove = removals(want->name, places);
	char *zones = join_zones(places);

	tpu_node_expire(json_object_get(properties, "labels"), want->job,
			now_ms);
	put_item(items, "jobrun-zones", zones);
	put_item(items, "jobrun-remove", remove);
	if (user && key) {
		char *keys = mem_printf("%s:%s", user, key);

		put_item(items, "ssh-keys", keys);
		free(keys);
	}
	free(zones);
	free(remove);
	return body;
}

json_t *tpu_node_node_now(const struct resource *want, int64_t now_ms)
{
	json_t *body = json_deep_copy(json_object_get(want->request, "body"));

	tpu_node_expire(json_object_get(body, "labels"), want->job, now_ms);
	return body;
}
