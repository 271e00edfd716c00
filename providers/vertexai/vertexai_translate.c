/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/vertexai/vertexai_translate.h"

#include <stdio.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/job/machines.h"
#include "core/job/misfit.h"
#include "providers/google/managed/managed.h"
#include "providers/google/managed/uses.h"
#include "providers/vertexai/vertexai_block.h"
#include "providers/vertexai/vertexai_fit.h"
#include "providers/vertexai/vertexai_own.h"
#include "providers/vertexai/vertexai_request.h"
#include "providers/vertexai/study.h"
#include "providers/vertexai/vertexai_uses.h"
#include "providers/vertexai/vertexai_types.h"

#define LEFT_MAX 64

struct vertex_translation {
	const struct job *job;
	const struct training_input *input;
	const struct catalogue *catalogue;
	const struct strings *packages;
	struct machine_groups machines;
	const struct vertex_ai_block *block; /* or NULL */
	/* The prebuilt containers that runtimeVersion stands for: "A, B", or
	 * NULL. */
	const char *prebuilt;
	struct arena *mem;
	struct vertex_job *out;
};

static void leave_out(struct vertex_translation *t, bool needed,
		      const char *path, const char *why)
{
	struct vertex_job *out = t->out;

	size_t i;

	/* Pools share most of their fields, so report each path once. */
	for (i = 0; i < out->left_count; i++)
		if (!strcmp(out->left[i].path, path))
			return;
	if (!out->left)
		out->left = arena_alloc(t->mem, LEFT_MAX * sizeof(*out->left));
	if (out->left_count < LEFT_MAX)
		out->left[out->left_count++] = (struct left_out){
			.path = path, .why = why, .needed = needed
		};
}

/* Notes a missing field with the reason that `explain` gives, too. */
static void leave(struct vertex_translation *t, const char *path)
{
	bool impossible;
	const char *why = use_reason(vertex_ai_uses, path, &impossible);

	leave_out(t, impossible, path, why);
}

static const char *path_of(struct vertex_translation *t, enum role role,
			   const char *field)
{
	return arena_printf(t->mem, "trainingInput.%sConfig.%s",
			    role_name(role), field);
}

static bool has_job(const struct vertex_translation *t, const char *field)
{
	return message_has(t->job->training_message, t->input, field);
}

static json_t *variables(const struct vertex_translation *t)
{
	const struct pairs *env = &t->job->jobrun.env;
	json_t *out = json_array();
	size_t i;

	for (i = 0; i < env->count; i++) {
		json_t *item = json_object();

		json_put_text(item, "name", env->items[i].name);
		json_put_text(item, "value", env->items[i].value);
		json_array_append_new(out, item);
	}
	return out;
}

/* Adds --job-dir after the job's own arguments, as AI Platform did, also for
 * containers. */
static json_t *with_job_dir(const struct vertex_translation *t, json_t *args)
{
	if (t->input->job_dir)
		json_array_append_new(
			args, json_sprintf("--job-dir=%s", t->input->job_dir));
	return args;
}

/* ---- machines ---------------------------------------------------------- */

/* Returns the machine type; "{chips}" in it stands for the chips of one
 * host. */
static const char *vertex_machine(struct vertex_translation *t,
				  const struct machine_group *group)
{
	const char *name = group->tpu->vertex_machine;
	const char *hole = name ? strstr(name, "{chips}") : NULL;

	if (!hole)
		return name;
	return arena_printf(t->mem, "%.*s%u%s", (int)(hole - name), name,
			    group->slice->chips / group->slice->hosts,
			    hole + strlen("{chips}"));
}

/* Names the TPUs that the service has. */
static const char *name_tpus(const struct vertex_translation *t)
{
	const struct catalogue *all = t->catalogue;
	const char *names = "";
	size_t i;

	for (i = 0; i < all->tpu_count; i++)
		if (all->tpus[i].vertex_machine)
			names = arena_printf(t->mem, "%s%s%s", names,
					     *names ? ", " : "",
					     all->tpus[i].type);
	return names;
}

static json_t *tpu_machine(struct vertex_translation *t,
			   const struct machine_group *group)
{
	const char *name = vertex_machine(t, group);
	json_t *out = json_object();

	if (!name) {
		leave_out(t, true,
			  "trainingInput.workerConfig.acceleratorConfig",
			  group->tpu->origin
				  ? arena_printf(
					    t->mem,
					    "the row of %s in catalogue %s has "
					    "no vertexMachine",
					    group->accelerator_type,
					    group->tpu->origin)
				  : arena_printf(t->mem,
						 "Vertex AI has no %s for "
						 "training, only %s",
						 group->accelerator_type,
						 name_tpus(t)));
		return out;
	}
	json_put_text(out, "machineType", name);
	if (strcmp(name, "cloud-tpu") != 0) {
		json_put_text(out, "tpuTopology", group->slice->topology);
		return out;
	}
	json_put_text(out, "acceleratorType",
		      group->tpu->vertex_type ? group->tpu->vertex_type
					      : group->tpu->type);
	json_put_int(out, "acceleratorCount", group->accelerator_count);
	return out;
}

static json_t *machine_spec(struct vertex_translation *t,
			    const struct machine_group *group)
{
	json_t *out = json_object();
	const char *type = group->type;
	const struct slice *slice;
	const struct tpu *tpu;

	if (!type)
		leave_out(t, true,
			  arena_printf(t->mem, "trainingInput.%sType",
				       role_name(group->role)),
			  "no machine type is given");
	if (group->machine && group->machine->like)
		type = group->machine->like;
	if (type)
		json_put_text(out, "machineType", type);
	slice = catalogue_host_slice(t->catalogue, group->machine, &tpu);
	if (slice && !strchr(slice->topology, ','))
		json_put_text(out, "tpuTopology", slice->topology);
	if (group->accelerator_type && group->accelerator_count) {
		json_put_text(out, "acceleratorType", group->accelerator_type);
		json_put_int(out, "acceleratorCount", group->accelerator_count);
	}
	return out;
}

static enum device_kind device_of(const struct machine_group *group)
{
	if (group->tpu || (group->machine && group->machine->tpu_chips))
		return DEVICE_TPU;
	return group->accelerator_type ? DEVICE_GPU : DEVICE_CPU;
}

/* ---- programs ---------------------------------------------------------- */

/* Returns the repository of images for a region.  All three hold the same
 * images, and the nearest is the fastest. */
static const char *registry(const char *region)
{
	if (region &&
	    (text_starts(region, "europe-") || text_starts(region, "me-") ||
	     text_starts(region, "africa-")))
		return "europe-docker.pkg.dev";
	if (region &&
	    (text_starts(region, "asia-") || text_starts(region, "australia-")))
		return "asia-docker.pkg.dev";
	return "us-docker.pkg.dev";
}

static void name_prebuilt(struct vertex_translation *t, const char *image,
			  const char *until)
{
	const char *one =
		until ? arena_printf(t->mem, "%s (supported until %s)", image,
				     until)
		      : image;

	if (!t->prebuilt)
		t->prebuilt = one;
	else if (!strstr(t->prebuilt, one))
		t->prebuilt = arena_printf(t->mem, "%s, %s", t->prebuilt, one);
}

static const char *executor_image(struct vertex_translation *t,
				  const struct machine_group *group)
{
	static const char *const devices[] = {
		[DEVICE_CPU] = "CPUs",
		[DEVICE_GPU] = "GPUs",
		[DEVICE_TPU] = "TPUs",
	};
	enum device_kind device = device_of(group);
	const char *version = t->input->runtime_version;
	const char *python = t->input->python_version;
	const struct container *found;
	const char *image;

	if (t->block && t->block->executor_image)
		return t->block->executor_image;
	if (!version) {
		leave_out(t, true, "trainingInput.runtimeVersion",
			  "it decides which prebuilt container runs; or set "
			  "masterConfig.imageUri");
		return NULL;
	}
	found = catalogue_container(t->catalogue, version, python, device);
	if (!found) {
		leave_out(t, true, "trainingInput.runtimeVersion",
			  arena_printf(t->mem,
				       "Vertex AI has no prebuilt container of "
				       "runtime %s%s%s with %s: set "
				       "masterConfig.imageUri",
				       version, python ? " and Python " : "",
				       python ? python : "", devices[device]));
		return NULL;
	}
	image = arena_printf(t->mem, "%s/vertex-ai/training/%s:latest",
			     registry(t->input->region), found->image);
	name_prebuilt(t, image, found->until);
	return image;
}

static json_t *python_spec(struct vertex_translation *t,
			   const struct machine_group *group)
{
	const struct strings *packages =
		t->packages ? t->packages : &t->input->package_uris;
	const char *image = executor_image(t, group);
	json_t *out = json_object();

	if (image)
		json_put_text(out, "executorImageUri", image);
	if (!packages->count)
		leave_out(t, true, "trainingInput.packageUris",
			  "a prebuilt container runs a module of a package");
	json_put(out, "packageUris",
		 json_texts(packages->items, packages->count));
	if (t->input->python_module)
		json_put_text(out, "pythonModule", t->input->python_module);
	else
		leave_out(t, true, "trainingInput.pythonModule",
			  "a prebuilt container runs a module of a package");
	json_put(out, "args",
		 with_job_dir(t, json_texts(t->input->args.items,
					    t->input->args.count)));
	if (t->job->jobrun.env.count)
		json_put(out, "env", variables(t));
	return out;
}

static json_t *container_spec(struct vertex_translation *t,
			      const struct machine_group *group,
			      const char *image)
{
	const struct strings *command = &group->config->container_command;
	const struct strings *args = &group->config->container_args;
	json_t *out = json_object();

	if (!command->count)
		command = &t->job->jobrun.command;
	if (!args->count)
		args = &t->input->args;
	json_put_text(out, "imageUri", image);
	if (command->count)
		json_put(out, "command",
			 json_texts(command->items, command->count));
	if (args->count || t->input->job_dir)
		json_put(out, "args",
			 with_job_dir(t, json_texts(args->items, args->count)));
	if (t->job->jobrun.env.count)
		json_put(out, "env", variables(t));
	return out;
}

static json_t *disk_spec(const struct machine_group *group)
{
	const struct disk_config *disk = &group->config->disk_config;
	json_t *out;

	if (!disk->head.set)
		return NULL;
	out = json_object();
	if (disk->boot_disk_type)
		json_put_text(out, "bootDiskType", disk->boot_disk_type);
	if (disk->boot_disk_size_gb)
		json_put_int(out, "bootDiskSizeGb", disk->boot_disk_size_gb);
	return out;
}

static json_t *pool(struct vertex_translation *t,
		    const struct machine_group *group)
{
	const char *image = group->config->image_uri;
	json_t *out = json_object();
	json_t *disk = disk_spec(group);

	/* A TPU without its own image runs that of the master. */
	if (!image)
		image = t->input->master_config.image_uri;
	json_put(out, "machineSpec",
		 group->tpu ? tpu_machine(t, group) : machine_spec(t, group));
	json_put(out, "replicaCount", json_sprintf("%ld", group->count));
	if (disk)
		json_put(out, "diskSpec", disk);
	if (image)
		json_put(out, "containerSpec", container_spec(t, group, image));
	else
		json_put(out, "pythonPackageSpec", python_spec(t, group));
	if (group->config->tpu_tf_version)
		leave(t, path_of(t, group->role, "tpuTfVersion"));
	block_put_pool(t->block, out);
	return out;
}

/*
 * Returns the pools in the order master, workers, parameter servers,
 * evaluators; pools in between without machines are empty.  Beside a TPU there
 * is no master: the program runs on the TPU's own host.
 */
static json_t *pools(struct vertex_translation *t)
{
	const struct machine_group *tpu =
		machines_find(&t->machines, ROLE_WORKER);
	json_t *out = json_array();
	size_t i;

	if (tpu && tpu->tpu) {
		json_array_append_new(out, pool(t, tpu));
		if (has_job(t, "masterType") || has_job(t, "masterConfig"))
			leave_out(t, false, "trainingInput.masterType",
				  "the program runs on the TPU's own host: "
				  "there is no machine beside it; the master's "
				  "image is used");
		return out;
	}
	for (i = 0; i < t->machines.count; i++) {
		const struct machine_group *group = &t->machines.items[i];

		while (json_array_size(out) < (size_t)group->role)
			json_array_append_new(out, json_object());
		json_array_append_new(out, pool(t, group));
	}
	return out;
}

/* ---- the rest ---------------------------------------------------------- */

/* Reports what the service refuses of what the block asks for; validate shows
 * it, too, with what it only doubts. */
static void look_at_the_block(struct vertex_translation *t)
{
	struct misfits all = { .mem = t->mem };
	size_t i;

	vertex_ai_fit(t->job, t->catalogue, &all);
	for (i = 0; i < all.count; i++)
		if (all.items[i].certain)
			leave_out(t, true, all.items[i].path,
				  all.items[i].text);
}

static json_t *scheduling(struct vertex_translation *t)
{
	const struct scheduling *from = &t->input->scheduling;
	const struct strategy *how = catalogue_strategy(
		t->catalogue, t->block ? t->block->strategy : NULL);
	json_t *out = json_object();

	if (from->max_running_time_s)
		json_put(out, "timeout",
			 json_sprintf("%lds", from->max_running_time_s));
	look_at_the_block(t);
	if (from->max_wait_time_s && how && how->waits)
		json_put(out, "maxWaitDuration",
			 json_sprintf("%lds", from->max_wait_time_s));
	else if (from->max_wait_time_s)
		leave(t, "trainingInput.scheduling.maxWaitTime");
	if (from->priority)
		leave(t, "trainingInput.scheduling.priority");
	return out;
}

static json_t *job_spec(struct vertex_translation *t)
{
	const struct training_input *input = t->input;
	json_t *out = json_object();
	json_t *part;

	json_put(out, "workerPoolSpecs", pools(t));
	part = scheduling(t);
	if (json_object_size(part))
		json_put(out, "scheduling", json_incref(part));
	json_decref(part);
	if (input->service_account)
		json_put_text(out, "serviceAccount", input->service_account);
	if (input->network)
		json_put_text(out, "network", input->network);
	if (input->job_dir) {
		part = json_object();
		json_put_text(part, "outputUriPrefix", input->job_dir);
		json_put(out, "baseOutputDirectory", part);
	}
	if (input->enable_web_access)
		json_put(out, "enableWebAccess", json_true());
	block_put_spec(t->block, t->mem, out);
	return out;
}

/* Reports fields of the whole job that have no counterpart. */
static void look_at_the_rest(struct vertex_translation *t)
{
	const struct jobrun_block *jobrun = &t->job->jobrun;
	bool image = t->input->master_config.image_uri;

	if (!t->input->region)
		leave_out(t, true, "trainingInput.region",
			  "a custom job runs in a region");
	if (t->job->etag)
		leave(t, "etag");
	if (has_job(t, "useChiefInTfConfig") &&
	    !t->input->use_chief_in_tf_config)
		leave(t, "trainingInput.useChiefInTfConfig");
	if (image && t->input->package_uris.count)
		leave_out(t, false, "trainingInput.packageUris",
			  "a container image holds its program: build it into "
			  "the image");
	if (image && t->input->python_module)
		leave_out(t, false, "trainingInput.pythonModule",
			  "the container's entry point runs: set "
			  "masterConfig.containerCommand");
	if (!image && jobrun->command.count)
		leave_out(t, true, "jobrun.command",
			  "a prebuilt container runs only a Python module: "
			  "set pythonModule, or masterConfig.imageUri");
	if (jobrun->setup.count)
		leave(t, "jobrun.setup");
	if (jobrun->secrets.count)
		leave(t, "jobrun.secrets");
}

/* A job of Vertex AI's has no runtime version: it chooses a prebuilt container,
 * or is left out. */
static void look_at_the_runtime(struct vertex_translation *t)
{
	bool executor = t->block && t->block->executor_image;
	const char *why =
		executor ? "jobrun.vertex-ai.executorImage takes its place"
			 : "the container image takes its place";

	t->out->prebuilt = t->prebuilt;
	if (t->prebuilt || !t->input->runtime_version ||
	    !(executor || t->input->master_config.image_uri))
		return;
	leave_out(t, false, "trainingInput.runtimeVersion", why);
	if (t->input->python_version)
		leave_out(t, false, "trainingInput.pythonVersion", why);
}

/* Returns `spec` (taken) merged with what the file adds, also for the job of
 * each trial. */
static json_t *with_more(const struct vertex_translation *t, json_t *spec)
{
	const struct vertex_ai_block *block = job_block(t->job, "vertex-ai");
	json_t *whole = json_object(), *out;

	json_put(whole, "jobSpec", spec);
	whole = body_merge(&vertex_job_form, whole,
			   block ? block->custom_job : NULL);
	out = json_incref(json_object_get(whole, "jobSpec"));
	json_decref(whole);
	return out;
}

/* Returns the request with the file's own `request` merged over it. */
static json_t *with_request(const struct vertex_translation *t, json_t *body)
{
	json_t *over = t->block && t->block->request
			       ? json_loads(t->block->request, 0, NULL)
			       : NULL;

	request_merge(body, over);
	json_decref(over);
	return body;
}

static json_t *body(struct vertex_translation *t, const struct pairs *labels)
{
	const char *key = t->input->encryption_config.kms_key_name;
	bool tunes = has_job(t, "hyperparameters");
	json_t *spec = with_more(t, job_spec(t));
	json_t *out = json_object();
	json_t *part, *all;

	json_put_text(out, "displayName", t->job->job_id);
	managed_put_labels(t->job, labels, out);
	if (key) {
		part = json_object();
		json_put_text(part, "kmsKeyName", key);
		json_put(out, "encryptionSpec", part);
	}
	t->out->collection = "customJobs";
	if (!tunes) {
		json_put(out, "jobSpec", spec);
		return with_request(t, out);
	}
	t->out->collection = "hyperparameterTuningJobs";
	all = message_json(t->job->training_message, t->input,
			   MESSAGE_DEFAULTS);
	study_put(json_object_get(all, "hyperparameters"), out);
	json_decref(all);
	if (t->input->hyperparameters.resume_previous_job_id)
		leave(t, "trainingInput.hyperparameters.resumePreviousJobId");
	json_put(out, "trialJobSpec", spec);
	return with_request(t, out);
}

int vertex_translate(const struct job *job, const struct catalogue *catalogue,
		     const struct strings *packages, const struct pairs *labels,
		     struct arena *mem, struct vertex_job *out,
		     struct error *err)
{
	struct vertex_translation t = {
		.job = job,
		.input = &job->training_input,
		.catalogue = catalogue,
		.packages = packages,
		.block = job_block(job, "vertex-ai"),
		.mem = mem,
		.out = out,
	};

	if (machines_of(job, catalogue, &t.machines, err) < 0)
		return -1;
	*out = (struct vertex_job){ .location = t.input->region };
	look_at_the_rest(&t);
	out->body = body(&t, labels);
	look_at_the_runtime(&t);
	return 0;
}

void vertex_job_done(struct vertex_job *translated)
{
	json_decref(translated->body);
	translated->body = NULL;
}
