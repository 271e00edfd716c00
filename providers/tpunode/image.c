/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/tpunode/image.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/provider/provider.h"
#include "providers/google/compute.h"
#include "providers/google/google_labels.h"
#include "providers/google/google_place.h"
#include "providers/google/tpu/tpu_ctx.h"
#include "providers/google/tpu/tpu_places.h"
#include "providers/tpunode/tpunode.h"
#include "providers/tpunode/tpunode_body.h"
#include "providers/tpunode/tpunode_place.h"
#include "providers/tpunode/vms.h"

#define POLL_MS 2000
/* The location of images, which are in no zone. */
#define EVERYWHERE "global"

/* ---- what a job wants ---------------------------------------------------- */

static json_t *body_of(const struct job *job, const struct tpu_node_image *from,
		       const char *name)
{
	json_t *body = json_object(), *labels = google_labels(job);

	if (from->keep)
		json_put_text(labels, "jobrun-cleanup",
			      cleanup_name(CLEANUP_NEVER));
	json_put_text(body, "name", name);
	json_put_text(body, "description", job->job_id);
	if (from->family)
		json_put_text(body, "family", from->family);
	json_put(body, "labels", labels);
	return body;
}

struct resource *tpu_node_add_image(const struct job *job,
				    const struct tpu_node_block *block,
				    const char *name, struct resources *out)
{
	const struct tpu_node_image *from = &block->image_from;
	struct resource *it;

	if (!from->vm)
		return NULL;
	it = resources_add(out,
			   from->keep ? &kind_kept_image : &kind_disk_image,
			   name, job);
	it->request = json_object();
	json_put_text(it->request, "method", "POST");
	json_put_text(it->request, "url", "");
	json_put(it->request, "body", body_of(job, from, name));
	it->properties = json_object();
	tpu_places_put(it->properties, job, &block->zones, 0);
	json_put_text(it->properties, "vm", from->vm);
	if (from->zone)
		json_put_text(it->properties, "vmZone", from->zone);
	if (from->stop)
		json_put(it->properties, "stopVm", json_true());
	if (from->family)
		json_put_text(it->properties, "family", from->family);
	return it;
}

/* ---- the VM -------------------------------------------------------------- */

struct vm {
	char *path; /* "projects/P/zones/Z/instances/N" */
	json_t *body;
};

static void vm_done(struct vm *vm)
{
	free(vm->path);
	json_decref(vm->body);
	*vm = (struct vm){ 0 };
}

static int vm_get(struct tpu_ctx *ctx, const struct resource *it,
		  const struct tpu_node_place *place, struct vm *out,
		  struct error *err)
{
	const char *name = json_get_text(it->properties, "vm", NULL);

	*out = (struct vm){ 0 };
	/* An image found by a listing has no VM. */
	if (!name)
		return 0;
	out->path = mem_printf(
		"projects/%s/zones/%s/instances/%s", place->project,
		json_get_text(it->properties, "vmZone", place->zone), name);
	return compute_get(ctx->google, out->path, &out->body, err);
}

static const char *vm_state(const struct vm *vm)
{
	return json_get_text(vm->body, "status", "");
}

/* Whether a VM is stopped, which the service calls TERMINATED. */
static bool vm_is_stopped(const struct vm *vm)
{
	return !strcmp(vm_state(vm), "TERMINATED") ||
	       !strcmp(vm_state(vm), "STOPPED");
}

/* Returns the path of the boot disk from "projects/" on, or NULL. */
static const char *vm_boot_disk(const struct vm *vm)
{
	const json_t *disk;
	const char *source;
	size_t i;

	json_array_foreach(json_object_get(vm->body, "disks"), i, disk)
	{
		source = json_get_text(disk, "source", "");
		if (json_is_true(json_object_get(disk, "boot")))
			return strstr(source, "projects/");
	}
	return NULL;
}

/* Makes sure that the VM is stopped; jobrun stops one only if the file says
 * so. */
static int vm_be_stopped(struct tpu_ctx *ctx, const struct resource *want,
			 const struct tpu_node_place *place, struct vm *vm,
			 struct error *err)
{
	const char *name = json_get_text(want->properties, "vm", "");
	const char *zone =
		json_get_text(want->properties, "vmZone", place->zone);
	char *path;
	int ret;

	if (!vm->body)
		return error_set_final(err, ERROR_FAILED,
				       "there is no VM '%s' in %s: set "
				       "jobrun.tpu-node.imageFrom to one that "
				       "was set up and stopped",
				       name, zone);
	if (vm_is_stopped(vm))
		return 0;
	if (!json_is_true(json_object_get(want->properties, "stopVm")))
		return error_set_final(
			err, ERROR_FAILED,
			"VM '%s' is %s, but its disk must be idle to make an "
			"image: stop it with 'gcloud compute instances stop %s "
			"--zone=%s --project=%s', or set "
			"jobrun.tpu-node.imageFrom.stop to true",
			name, vm_state(vm), name, zone, place->project);
	path = mem_printf("%s/stop", vm->path);
	ret = compute_act(ctx->google, want->once, path, err);
	free(path);
	vm_done(vm);
	if (ret < 0 || vm_get(ctx, want, place, vm, err) < 0)
		return -1;
	return vm_is_stopped(vm)
		       ? 0
		       : error_set(err, ERROR_TRY_AGAIN, "VM '%s' is %s", name,
				   vm_state(vm));
}

/* ---- the image ----------------------------------------------------------- */

/* Checks the owner: another image may have the name, and would be deleted
 * later. */
static int check_owner(const struct resource *it, const json_t *body,
		       struct error *err)
{
	const char *owner =
		google_labels_read(json_object_get(body, "labels")).job_id;
	char label[GOOGLE_LABEL_MAX];

	if (it->job)
		google_label(it->job->job_id, label);
	if (owner && (!it->job || !strcmp(owner, label)))
		return 0;
	return error_set_final(err, ERROR_FAILED,
			       "the project has an image '%s' that does not "
			       "belong to this job: delete that, or rename the "
			       "job",
			       it->name);
}

/* Like tpu_node_vms_get(), but fails unless the image belongs to this job. */
static int get_own(struct tpu_ctx *ctx, const struct resource *it,
		   struct arena *mem, struct tpu_node_place *place,
		   json_t **body, struct error *err)
{
	int ret = tpu_node_vms_get(ctx, it, mem, place, body, err);

	return ret == 0 && *body ? check_owner(it, *body, err) : ret;
}

static bool has_failed(const json_t *body)
{
	return !strcmp(json_get_text(body, "status", ""), "FAILED");
}

/* Shows an image.  One made from another disk is recognized only while the VM
 * exists. */
static json_t *show(const struct resource *want, const json_t *body,
		    const struct vm *vm)
{
	const char *disk = json_get_text(body, "sourceDisk", NULL);
	json_t *out = tpu_node_shown(want);

	json_object_del(out, "vmState");
	if (disk && vm_boot_disk(vm))
		json_put_text(out, "sourceDisk", path_base(disk));
	if (has_failed(body))
		json_put_text(out, "state", "FAILED");
	return out;
}

static int image_read(void *arg, const struct resource *want,
		      struct resource *found, struct error *err)
{
	struct arena *mem = arena_new();
	struct vm vm = { 0 };
	struct tpu_node_place place;
	json_t *body = NULL;
	int ret = get_own(arg, want, mem, &place, &body, err);

	if (ret == 0)
		ret = vm_get(arg, want, &place, &vm, err);
	if (ret == 0) {
		tpu_node_set_found(found, body ? show(want, body, &vm) : NULL,
				   &place, place.zone);
		if (vm_boot_disk(&vm))
			json_put_text(found->outputs, "sourceDisk",
				      vm_boot_disk(&vm));
		json_put_text(found->outputs, "vmState",
			      vm.body ? vm_state(&vm) : "not there");
		if (vm_is_stopped(&vm))
			json_object_del(found->outputs, "vmState");
	}
	vm_done(&vm);
	json_decref(body);
	arena_free(mem);
	return ret;
}

/* Shows the disk for the image, and a state of the VM that prevents it. */
static void image_adapt(struct resource *want, const struct resource *found)
{
	const char *disk = json_get_text(found->outputs, "sourceDisk", NULL);
	const char *state = json_get_text(found->outputs, "vmState", NULL);

	tpu_node_adapt(want, found);
	if (disk) {
		json_put_text(want->properties, "sourceDisk", path_base(disk));
		json_put_text(json_object_get(want->request, "body"),
			      "sourceDisk", disk);
	}
	if (state && !found->exists)
		json_put_text(want->properties, "vmState", state);
	else
		json_object_del(want->properties, "vmState");
}

static json_t *body_now(const struct resource *want, const char *disk)
{
	json_t *body = json_deep_copy(json_object_get(want->request, "body"));

	json_put_text(body, "sourceDisk", disk);
	if (want->kind == &kind_disk_image)
		tpu_node_expire(json_object_get(body, "labels"), want->job,
				time_now_ms());
	return body;
}

static int make(struct tpu_ctx *ctx, const struct resource *want,
		const struct tpu_node_place *place, struct error *err)
{
	struct vm vm;
	json_t *body;
	int ret = vm_get(ctx, want, place, &vm, err);

	if (ret == 0)
		ret = vm_be_stopped(ctx, want, place, &vm, err);
	if (ret == 0 && !vm_boot_disk(&vm))
		ret = error_set_final(
			err, ERROR_FAILED, "VM '%s' has no boot disk",
			json_get_text(want->properties, "vm", ""));
	if (ret == 0) {
		body = body_now(want, vm_boot_disk(&vm));
		ret = tpu_node_vms_insert(ctx, want, place, body, err);
		json_decref(body);
	}
	vm_done(&vm);
	return ret;
}

static int image_create(void *arg, const struct resource *want,
			struct error *err)
{
	struct arena *mem = arena_new();
	struct tpu_node_place place;
	json_t *body = NULL;
	int ret = get_own(arg, want, mem, &place, &body, err);

	if (ret == 0 && has_failed(body)) {
		ret = tpu_node_vms_delete(arg, want, err);
		json_decref(body);
		body = NULL;
	}
	/* An image that an earlier try has left is adopted. */
	if (ret == 0 && !body)
		ret = make(arg, want, &place, err);
	json_decref(body);
	arena_free(mem);
	return ret;
}

static int image_delete(void *arg, const struct resource *have,
			struct error *err)
{
	struct arena *mem = arena_new();
	struct tpu_node_place place;
	json_t *body = NULL;
	int ret = get_own(arg, have, mem, &place, &body, err);

	if (ret == 0 && body)
		ret = tpu_node_vms_delete(arg, have, err);
	json_decref(body);
	arena_free(mem);
	return ret;
}

static int image_wait(void *arg, const struct resource *have,
		      enum wait_state *out, struct error *err)
{
	struct arena *mem = arena_new();
	struct tpu_node_place place;
	json_t *body = NULL;
	int ret = get_own(arg, have, mem, &place, &body, err);

	if (ret == 0 && !body)
		ret = error_set_final(err, ERROR_FAILED, "it is gone");
	if (ret == 0 && has_failed(body))
		ret = error_set_final(err, ERROR_FAILED, "it is FAILED");
	if (ret == 0 && !strcmp(json_get_text(body, "status", ""), "PENDING")) {
		error_set(err, ERROR_TRY_AGAIN, "PENDING");
		*out = WAIT_PENDING;
	} else if (ret == 0) {
		*out = WAIT_DONE;
	}
	json_decref(body);
	arena_free(mem);
	return ret;
}

/* ---- listing ------------------------------------------------------------- */

static void list_one(const char *project, const json_t *body,
		     const struct kind *kind, struct listing *out)
{
	const json_t *json = json_object_get(body, "labels");
	struct labels labels = google_labels_read(json);
	bool kept = !labels.expire_time_ms;
	char *where;

	if (!labels.job_id || kept != (kind == &kind_kept_image))
		return;
	labels.job_id = json_get_text(body, "description", labels.job_id);
	/* The job may be on any machine, so another one may renew it; a kept
	 * image never expires. */
	labels.renewed = true;
	if (kept)
		labels.expire_time_ms = INT64_MAX;
	where = mem_printf("projects/%s/locations/" EVERYWHERE, project);
	listing_add(out, &(struct listed){
				 .kind = kind,
				 .name = json_get_text(body, "name", ""),
				 .place = where,
				 .labels = labels,
				 .create_time_ms = time_parse(json_get_text(
					 body, "creationTimestamp", "")),
			 });
	free(where);
}

static int list_kind(void *arg, const char *where, const struct kind *kind,
		     struct listing *out, struct error *err)
{
	struct tpu_ctx *ctx = arg;
	struct arena *mem = arena_new();
	const char *project = place_project(ctx->google, where, mem);
	json_t *all = NULL, *item;
	char *path;
	size_t i;
	int ret = 0;

	if (project) {
		path = mem_printf("projects/%s/global/images", project);
		ret = compute_list(ctx->google, path, "labels.jobrun-job:*",
				   &all, err);
		free(path);
	}
	/* Without access to images this user made none here. */
	if (ret < 0 && !where && error_is_denied(err))
		ret = 0;
	json_array_foreach(all, i, item) list_one(project, item, kind, out);
	json_decref(all);
	arena_free(mem);
	return ret;
}

static int image_list(void *ctx, const char *where, struct listing *out,
		      struct error *err)
{
	return list_kind(ctx, where, &kind_disk_image, out, err);
}

static int kept_list(void *ctx, const char *where, struct listing *out,
		     struct error *err)
{
	return list_kind(ctx, where, &kind_kept_image, out, err);
}

const struct kind kind_disk_image = {
	.name = "disk-image",
	.flags = KIND_BILLED | KIND_FOR_RUN,
	.poll_ms = POLL_MS,
	.read = image_read,
	.adapt = image_adapt,
	.create = image_create,
	.delete = image_delete,
	.wait = image_wait,
	.list = image_list,
};

const struct kind kind_kept_image = {
	.name = "kept-disk-image",
	.flags = KIND_BILLED,
	.poll_ms = POLL_MS,
	.read = image_read,
	.adapt = image_adapt,
	.create = image_create,
	.delete = image_delete,
	.wait = image_wait,
	.list = kept_list,
};
