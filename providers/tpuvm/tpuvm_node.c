/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/tpuvm/tpuvm_node.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/provider/listing.h"
#include "providers/google/base/endpoint.h"
#include "providers/google/google_labels.h"
#include "providers/google/tpu/tpu.h"
#include "providers/google/tpu/tpu_places.h"
#include "providers/google/tpu/tpu_startup.h"

/* The time limit of AI Platform's jobs. */
#define RUNNING_MAX_S (7L * 24 * 3600)
#define SCOPE "https://www.googleapis.com/auth/cloud-platform"

/* ---- what is asked for -------------------------------------------------- */

static json_t *texts(const struct strings *list)
{
	return json_texts(list->items, list->count);
}

static json_t *network_json(const struct job *job,
			    const struct tpu_vm_block *block)
{
	const char *network = job->jobrun.network;
	json_t *out = json_object();

	if (network)
		json_put_text(out, "network", network);
	if (block->subnetwork)
		json_put_text(out, "subnetwork", block->subnetwork);
	json_put(out, "enableExternalIps", json_boolean(block->external_ips));
	return out;
}

static json_t *disks_json(const struct strings *disks)
{
	json_t *out = json_array();
	size_t i;

	for (i = 0; i < disks->count; i++) {
		const char *name = disks->items[i];
		bool only_read = text_ends(name, ":ro");
		size_t len = strlen(name) - (only_read ? strlen(":ro") : 0);
		char *path = mem_printf("%.*s", (int)len, name);
		json_t *disk = json_object();

		json_put_text(disk, "sourceDisk", path);
		json_put_text(disk, "mode",
			      only_read ? "READ_ONLY" : "READ_WRITE");
		json_array_append_new(out, disk);
		free(path);
	}
	return out;
}

static json_t *metadata_json(const struct job *job,
			     const struct tpu_vm_block *block)
{
	const struct scheduling *limits = &job->training_input.scheduling;
	const char *script = block->startup_script;
	json_t *out = json_object();
	char number[32];
	char *text;
	size_t i;

	for (i = 0; i < block->metadata.count; i++) {
		const struct pair *one = &block->metadata.items[i];

		if (strcmp(one->name, "startup-script") != 0)
			json_put_text(out, one->name, one->value);
		else if (!script)
			script = one->value;
	}
	text = tpu_startup(script);
	json_put_text(out, "startup-script", text);
	free(text);
	json_put_text(out, "jobrun-job", job->job_id);
	if (job->set)
		json_put_text(out, "jobrun-applyset", job->set);
	snprintf(number, sizeof(number), "%ld",
		 block->lease_s + (limits->max_running_time_s
					   ? limits->max_running_time_s
					   : RUNNING_MAX_S));
	json_put_text(out, "jobrun-limit", number);
	return out;
}

static void put_accelerator(json_t *body, const struct tpu_vm_block *block,
			    const struct tpu *tpu, const struct slice *slice)
{
	json_t *config;

	if (!block->topology) {
		json_put_text(body, "acceleratorType", slice->name);
		return;
	}
	config = json_object();
	json_put_text(config, "type",
		      tpu->api_type ? tpu->api_type : tpu->generation);
	json_put_text(config, "topology", block->topology);
	json_put(body, "acceleratorConfig", config);
}

bool tpu_vm_is_queued(const struct tpu_vm_block *block)
{
	return block->queued || block->valid_for_s || block->valid_after ||
	       block->valid_until || block->reservation || block->flex_start ||
	       block->slices > 1;
}

long tpu_vm_flex_start_s(const struct job *job)
{
	long limit_s = job->training_input.scheduling.max_running_time_s;

	return limit_s ? limit_s : RUNNING_MAX_S;
}

/* The discovery documents of 2026: v2 has no provisioningModel. */
const char *tpu_vm_version(const json_t *properties)
{
	return json_is_true(json_object_get(properties, "flexStart"))
		       ? "v2alpha1"
		       : "v2";
}

static void put_scheduling(json_t *body, const struct tpu_vm_block *block)
{
	json_t *out = json_object();

	/* If the node is queued, the queued resource has this instead. */
	if (block->spot && !tpu_vm_is_queued(block))
		json_put(out, "spot", json_true());
	if (block->preemptible)
		json_put(out, "preemptible", json_true());
	if (json_object_size(out))
		json_put(body, "schedulingConfig", out);
	else
		json_decref(out);
}

static void put_account(json_t *body, const struct job *job,
			const struct tpu_vm_block *block)
{
	const char *email = job->training_input.service_account;
	json_t *out = json_object();

	if (email)
		json_put_text(out, "email", email);
	if (block->scopes.count)
		json_put(out, "scope", texts(&block->scopes));
	else
		json_put(out, "scope",
			 json_texts((const char *const[]){ SCOPE }, 1));
	json_put(body, "serviceAccount", out);
}

json_t *tpu_vm_body(const struct job *job, const struct tpu_vm_block *block,
		    const struct tpu *tpu, const struct slice *slice)
{
	json_t *body = json_object();

	put_accelerator(body, block, tpu, slice);
	json_put_text(body, "runtimeVersion",
		      block->runtime_version ? block->runtime_version
					     : tpu->vm_runtime);
	json_put(body, "networkConfig", network_json(job, block));
	put_scheduling(body, block);
	put_account(body, job, block);
	if (block->disks.count)
		json_put(body, "dataDisks", disks_json(&block->disks));
	if (block->tags.count)
		json_put(body, "tags", texts(&block->tags));
	json_put(body, "labels", google_labels(job));
	json_put(body, "metadata", metadata_json(job, block));
	return body;
}

/* Puts how the service sells it: one of several kinds. */
static void put_model(json_t *out, const struct job *job,
		      const struct tpu_vm_block *block)
{
	json_t *duration;

	if (!block->flex_start) {
		json_put(out, block->spot ? "spot" : "guaranteed",
			 json_object());
		return;
	}
	duration = json_object();
	json_put(duration, "maxRunDuration",
		 json_sprintf("%lds", tpu_vm_flex_start_s(job)));
	json_put_text(out, "provisioningModel", "FLEX_START");
	json_put(out, "runDuration", duration);
}

/* Puts when it may be made; the API takes one of these. */
static void put_policy(json_t *out, const struct tpu_vm_block *block)
{
	json_t *policy = json_object(), *interval = json_object();

	if (block->valid_for_s)
		json_put(policy, "validUntilDuration",
			 json_sprintf("%lds", block->valid_for_s));
	if (block->valid_after && block->valid_until) {
		json_put_text(interval, "startTime", block->valid_after);
		json_put_text(interval, "endTime", block->valid_until);
		json_put(policy, "validInterval", json_incref(interval));
	} else if (block->valid_after) {
		json_put_text(policy, "validAfterTime", block->valid_after);
	} else if (block->valid_until) {
		json_put_text(policy, "validUntilTime", block->valid_until);
	}
	if (json_object_size(policy))
		json_put(out, "queueingPolicy", json_incref(policy));
	json_decref(interval);
	json_decref(policy);
}

json_t *tpu_vm_queue_body(const char *name, const struct job *job,
			  const struct tpu_vm_block *block, json_t *node)
{
	json_t *out = json_object();
	json_t *spec = json_object();
	json_t *list = json_array();
	json_t *tpu = json_object();

	json_put_text(spec, "parent", "");
	if (block->slices > 1) {
		json_t *slices = json_object();

		json_put_int(slices, "nodeCount", block->slices);
		json_put_text(slices, "nodeIdPrefix", name);
		json_put(spec, "multisliceParams", slices);
	} else {
		json_put_text(spec, "nodeId", name);
	}
	json_put(spec, "node", node);
	json_array_append_new(list, spec);
	json_put(tpu, "nodeSpec", list);
	json_put(out, "tpu", tpu);
	put_model(out, job, block);
	if (block->reservation)
		json_put_text(out, "reservationName", block->reservation);
	put_policy(out, block);
	return out;
}

/* Returns the only node spec of a queued resource, or NULL. */
static json_t *spec_of(const json_t *body)
{
	return json_array_get(
		json_object_get(json_object_get(body, "tpu"), "nodeSpec"), 0);
}

/* ---- what is compared --------------------------------------------------- */

static json_t *script_digest(const json_t *node)
{
	const char *text = tpu_startup_own(json_get_text(
		json_object_get(node, "metadata"), "startup-script", ""));
	struct digest digest = { "" };
	char shown[24];

	digest_bytes(text, strlen(text), &digest);
	snprintf(shown, sizeof(shown), "sha256:%.12s", digest.hex);
	return json_string(shown);
}

static void copy_base(json_t *out, const char *key, const json_t *from,
		      const char *name)
{
	const char *text = json_get_text(from, name, NULL);

	if (text)
		json_put_text(out, key, path_base(text));
}

static void copy_flag(json_t *out, const char *key, const json_t *from)
{
	if (json_is_true(json_object_get(from, key)))
		json_put(out, key, json_true());
}

/* Returns the properties that existing nodes and requests have in common. */
static json_t *describe(const json_t *node)
{
	const json_t *network = json_object_get(node, "networkConfig");
	const json_t *scheduling = json_object_get(node, "schedulingConfig");
	json_t *out = json_object();
	static const char *const same[] = { "acceleratorType",
					    "acceleratorConfig",
					    "runtimeVersion", "dataDisks",
					    "tags" };
	size_t i;

	for (i = 0; i < sizeof(same) / sizeof(*same); i++) {
		json_t *value = json_object_get(node, same[i]);

		if (value)
			json_put(out, same[i], json_deep_copy(value));
	}
	copy_flag(out, "spot", scheduling);
	copy_flag(out, "preemptible", scheduling);
	copy_base(out, "network", network, "network");
	copy_base(out, "subnetwork", network, "subnetwork");
	json_put(out, "externalIps",
		 json_boolean(json_is_true(
			 json_object_get(network, "enableExternalIps"))));
	copy_base(out, "serviceAccount",
		  json_object_get(node, "serviceAccount"), "email");
	json_put(out, "startupScript", script_digest(node));
	return out;
}

json_t *tpu_vm_wanted(const struct job *job, const struct tpu_vm_block *block,
		      const struct slice *slice, const json_t *body)
{
	json_t *spec = spec_of(body);
	json_t *out = describe(spec ? json_object_get(spec, "node") : body);
	char text[32];

	tpu_node_expect(out, slice);
	if (spec)
		json_put(out, "queued", json_true());
	if (block->slices > 1)
		json_put_int(out, "slices", block->slices);
	if (spec && block->spot)
		json_put(out, "spot", json_true());
	if (block->flex_start)
		json_put(out, "flexStart", json_true());
	json_put_text(out, "reservation", block->reservation);
	if (block->valid_for_s) {
		duration_format(block->valid_for_s, text, sizeof(text));
		json_put_text(out, "validFor", text);
	}
	json_put_text(out, "validAfter", block->valid_after);
	json_put_text(out, "validUntil", block->valid_until);

	tpu_places_put(out, job, &block->zones, block->wait_for_capacity_s);
	if (block->iap)
		json_put(out, "iap", json_true());
	if (block->ssh_user)
		json_put_text(out, "sshUser", block->ssh_user);
	if (block->ssh_key)
		json_put_text(out, "sshKey", job_path(job, block->ssh_key));
	duration_format(block->ready_timeout_s, text, sizeof(text));
	json_put_text(out, "readyTimeout", text);
	duration_format(block->lease_s, text, sizeof(text));
	json_put_text(out, "lease", text);
	return out;
}

json_t *tpu_vm_queued_node(const json_t *queue)
{
	return json_object_get(spec_of(queue), "node");
}

/* Shortens the paths of disks in the node's project and zone that the file
 * names without a path. */
static void shorten_disks(json_t *found, const json_t *wanted)
{
	json_t *disk;
	size_t i;

	json_array_foreach(found, i, disk)
	{
		const char *want = json_get_text(json_array_get(wanted, i),
						 "sourceDisk", "/");
		const char *is = json_get_text(disk, "sourceDisk", "");

		if (!strchr(want, '/') && !strcmp(path_base(is), want))
			json_put_text(disk, "sourceDisk", want);
	}
}

json_t *tpu_vm_found(const json_t *node, const json_t *wanted)
{
	json_t *all = describe(node);
	json_t *out = json_object();
	const char *key;
	json_t *value, *own;

	shorten_disks(json_object_get(all, "dataDisks"),
		      json_object_get(wanted, "dataDisks"));
	/* Leave out values that the service chose. */
	json_object_foreach((json_t *)wanted, key, value)
	{
		own = json_object_get(all, key);
		/* This field says how to create the node, and is not part of
		 * its state. */
		json_object_set(out, key, own ? own : value);
	}
	json_decref(all);
	return out;
}

/* ---- what is sent ------------------------------------------------------- */

/* Labels it with the time when it expires unless somebody renews it. */
static void expire(json_t *labels, const json_t *properties, int64_t now_ms)
{
	struct error ignored;
	long lease_s = 3600;

	duration_parse(json_get_text(properties, "lease", "1h"), &lease_s,
		       &ignored);
	google_labels_expire(labels, now_ms / 1000 + lease_s);
}

/* Completes a name such as "disk-1" with the project and zone of the node. */
static void complete_disks(json_t *disks, const struct tpu_vm_making *making)
{
	json_t *disk;
	size_t i;

	json_array_foreach(disks, i, disk)
	{
		const char *name = json_get_text(disk, "sourceDisk", "");
		char *path;

		if (strchr(name, '/'))
			continue;
		path = mem_printf("projects/%s/zones/%s/disks/%s",
				  making->project, making->zone, name);
		json_put_text(disk, "sourceDisk", path);
		free(path);
	}
}

/* The API knows reservations by their whole path, in the zone that is tried. */
static void complete_reservation(json_t *body,
				 const struct tpu_vm_making *making)
{
	const char *name = json_get_text(body, "reservationName", "/");

	if (!strchr(name, '/'))
		json_put(body, "reservationName",
			 json_sprintf("projects/%s/locations/%s/reservations/"
				      "%s",
				      making->project, making->zone, name));
}

json_t *tpu_vm_sent_node(json_t *body)
{
	json_t *spec = spec_of(body);

	return spec ? json_object_get(spec, "node") : body;
}

json_t *tpu_vm_body_complete(const struct resource *want,
			     const struct tpu_vm_making *making)
{
	json_t *body = json_deep_copy(json_object_get(want->request, "body"));
	json_t *spec = spec_of(body);
	json_t *node = tpu_vm_sent_node(body);
	json_t *metadata = json_object_get(node, "metadata");
	struct buf url = { 0 };
	char *keys;

	if (spec) {
		char *parent = mem_printf("projects/%s/locations/%s",
					  making->project, making->zone);

		json_put_text(spec, "parent", parent);
		free(parent);
	}
	expire(json_object_get(node, "labels"), want->properties,
	       making->now_ms);
	endpoint_add(SERVICE_TPU, NULL, &url);
	/* Each of several slices appends its own name. */
	if (json_object_get(spec, "multisliceParams"))
		buf_printf(&url, "v2/projects/%s/locations/%s/nodes/",
			   making->project, making->zone);
	else
		buf_printf(&url, "v2/%s", making->node);
	json_put_text(metadata, "jobrun-node", url.data);
	buf_done(&url);
	if (making->user && making->public_key &&
	    !json_object_get(metadata, "ssh-keys")) {
		keys = mem_printf("%s:%s", making->user, making->public_key);
		json_put_text(metadata, "ssh-keys", keys);
		free(keys);
	}
	complete_disks(json_object_get(node, "dataDisks"), making);
	complete_reservation(body, making);
	return body;
}
