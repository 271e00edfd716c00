/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/manifest/pod.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/json.h"
#include "providers/kubernetes/manifest/env.h"
#include "providers/kubernetes/manifest/launcher.h"
#include "providers/kubernetes/manifest/kube_source.h"
#include "providers/kubernetes/manifest/kube_trials.h"

/* ---- programs ---------------------------------------------------------- */

static const char *image_of(const struct pod_maker *maker,
			    const struct machine_group *group)
{
	const struct training_input *input = &maker->job->training_input;

	/* Workers without an image run the master's, and so do the hosts of a
	 * TPU. */
	if (group->config->image_uri)
		return group->config->image_uri;
	if (input->master_config.image_uri)
		return input->master_config.image_uri;
	return maker->job->jobrun.docker.image;
}

static void add_command(const struct pod_maker *maker,
			const struct machine_group *group, json_t *container)
{
	const struct training_input *input = &maker->job->training_input;
	const struct strings *command = &group->config->container_command;
	const struct strings *args = &group->config->container_args;
	json_t *list;

	if (!command->count)
		command = &maker->job->jobrun.command;
	if (!args->count)
		args = &input->args;
	if (command->count)
		json_put(container, "command", env_words(command));
	else if (input->python_module)
		json_put(container, "command",
			 json_pack("[s, s, s, o]", "python3", "-u", "-m",
				   env_text(input->python_module)));
	list = env_words(args);
	/* AI Platform put it after the job's arguments and the values of a
	 * trial. */
	if (input->job_dir && !trials_are_wanted(maker->job))
		json_array_append_new(
			list, env_text(arena_printf(maker->mem, "--job-dir=%s",
						    input->job_dir)));
	if (json_array_size(list))
		json_put(container, "args", list);
	else
		json_decref(list);
}

/* ---- what they see ----------------------------------------------------- */

static const struct kube_volume *find_volume(const struct pod_maker *maker,
					     const char *name)
{
	const struct kube_volume *all =
		maker->block ? maker->block->volumes.items : NULL;
	size_t i;

	for (i = 0; all && i < maker->block->volumes.count; i++)
		if (!strcmp(all[i].name, name))
			return &all[i];
	return NULL;
}

const char *pod_run_folder(const struct pod_maker *maker)
{
	const struct pairs *env = &maker->job->jobrun.env;
	const struct kube_volume *run = find_volume(maker, "run");
	size_t i;

	for (i = 0; i < env->count; i++)
		if (!strcmp(env->items[i].name, "JOBRUN_RUN_DIR"))
			return env->items[i].value;
	return run ? run->path : POD_RUN;
}

static json_t *variables(const struct pod_maker *maker)
{
	const struct jobrun_block *jobrun = &maker->job->jobrun;
	const struct secret *secrets = jobrun->secrets.items;
	json_t *out = json_array();
	size_t i;

	for (i = 0; i < jobrun->env.count; i++)
		env_add_text(out, jobrun->env.items[i].name,
			     jobrun->env.items[i].value);
	for (i = 0; i < jobrun->secrets.count; i++)
		env_add_secret(out, secrets[i].name, maker->out->name);
	if (!env_given(maker->job, "JOBRUN_RUN_DIR"))
		env_add_text(out, "JOBRUN_RUN_DIR", pod_run_folder(maker));
	if (!env_given(maker->job, "PYTHONUNBUFFERED"))
		env_add_text(out, "PYTHONUNBUFFERED", "1");
	if (!env_given(maker->job, "CLOUD_ML_JOB_ID"))
		env_add_text(out, "CLOUD_ML_JOB_ID", maker->job->job_id);
	return out;
}

/* ---- volumes ----------------------------------------------------------- */

static void mount(json_t *container, const char *name, const char *path,
		  bool read_only)
{
	json_t *item = json_object();

	json_put_text(item, "name", name);
	json_put_text(item, "mountPath", path);
	if (read_only)
		json_put(item, "readOnly", json_true());
	json_array_append_new(json_object_get(container, "volumeMounts"), item);
}

static json_t *named(const char *key, const char *name)
{
	json_t *out = json_object();

	json_put_text(out, key, name);
	return out;
}

static void add_volume(const struct pod_maker *maker,
		       const struct kube_volume *from, json_t *volumes)
{
	int kinds = !!from->claim + !!from->config_map + !!from->secret +
		    !!from->host_path + !!from->memory;
	json_t *volume = named("name", from->name), *what;

	json_array_append_new(volumes, volume);
	if (kinds != 1)
		kube_leave_out(maker->out, true,
			       arena_printf(maker->mem,
					    "jobrun.kubernetes.volumes.%s",
					    from->name),
			       "exactly one of claim, configMap, secret, "
			       "hostPath and memory says what it is");
	if (from->claim) {
		what = named("claimName", from->claim);
		if (from->read_only)
			json_put(what, "readOnly", json_true());
		json_put(volume, "persistentVolumeClaim", what);
	} else if (from->config_map) {
		json_put(volume, "configMap", named("name", from->config_map));
	} else if (from->secret) {
		json_put(volume, "secret", named("secretName", from->secret));
	} else if (from->host_path) {
		json_put(volume, "hostPath", named("path", from->host_path));
	} else if (from->memory) {
		what = named("medium", "Memory");
		json_put_text(what, "sizeLimit", from->memory);
		json_put(volume, "emptyDir", what);
	}
}

/* Adds a volume of the pod's own, which is deleted with it. */
static void add_empty(json_t *volumes, const char *name)
{
	json_t *volume = named("name", name);

	json_put(volume, "emptyDir", json_object());
	json_array_append_new(volumes, volume);
}

static void add_volumes(const struct pod_maker *maker, json_t *spec,
			json_t *container)
{
	const struct kube_volume *all =
		maker->block ? maker->block->volumes.items : NULL;
	json_t *volumes = json_array();
	size_t i;

	json_put(container, "volumeMounts", json_array());
	if (maker->job->jobrun.source) {
		json_array_append_new(volumes,
				      source_volume(maker->job, maker->mem));
		mount(container, SOURCE_VOLUME, POD_SOURCE, true);
		json_put_text(container, "workingDir", POD_SOURCE);
	}
	if (!find_volume(maker, "run") &&
	    !env_given(maker->job, "JOBRUN_RUN_DIR")) {
		add_empty(volumes, "jobrun-run");
		mount(container, "jobrun-run", POD_RUN, false);
	}
	if (launcher_is_used(maker)) {
		add_empty(volumes, LAUNCHER_VOLUME);
		mount(container, LAUNCHER_VOLUME, LAUNCHER_FOLDER, true);
	}
	for (i = 0; all && i < maker->block->volumes.count; i++) {
		add_volume(maker, &all[i], volumes);
		mount(container, all[i].name, all[i].path, all[i].read_only);
	}
	if (!json_array_size(volumes)) {
		json_object_del(container, "volumeMounts");
		json_decref(volumes);
	} else {
		json_put(spec, "volumes", volumes);
	}
}

/* ---- machines ---------------------------------------------------------- */

/* Returns the topology in chips: hosts "2,2,1" with 2x2x1 chips are "4x4x1". */
static const char *chip_topology(const struct pod_maker *maker,
				 const struct tpu *tpu,
				 const struct slice *slice)
{
	unsigned x, y, z;

	if (!slice->topology ||
	    sscanf(slice->topology, "%u,%u,%u", &x, &y, &z) != 3)
		return slice->topology;
	return tpu->flat
		       ? arena_printf(maker->mem, "%ux%u", 2 * x, 2 * y)
		       : arena_printf(maker->mem, "%ux%ux%u", 2 * x, 2 * y, z);
}

static json_t *tpu_resources(const struct pod_maker *maker,
			     const struct tpu *tpu, const struct slice *slice,
			     json_t *selector)
{
	json_t *out = json_object(), *chips = json_object();

	if (!tpu->gke_slice) {
		kube_leave_out(
			maker->out, true,
			"trainingInput.workerConfig.acceleratorConfig",
			tpu->origin
				? arena_printf(maker->mem,
					       "the row of %s in catalogue %s "
					       "has no gkeSlice",
					       tpu->type, tpu->origin)
				: arena_printf(maker->mem,
					       "GKE has no %s: use TPU_V3 or "
					       "later, or provider tpu-vm",
					       tpu->type));
		json_decref(chips);
		return out;
	}
	json_put_text(selector, "cloud.google.com/gke-tpu-accelerator",
		      tpu->gke_single && slice->hosts == 1 ? tpu->gke_single
							   : tpu->gke_slice);
	json_put_text(selector, "cloud.google.com/gke-tpu-topology",
		      chip_topology(maker, tpu, slice));
	json_put(chips, "google.com/tpu",
		 json_sprintf("%u", slice->chips / slice->hosts));
	json_put(out, "requests", json_deep_copy(chips));
	json_put(out, "limits", chips);
	return out;
}

/* Returns GKE's label: nvidia-tesla-t4 for NVIDIA_TESLA_T4. */
static const char *gpu_label(const struct pod_maker *maker, const char *type)
{
	char *out = arena_strdup(maker->mem, type);
	char *p;

	for (p = out; *p; p++)
		*p = *p == '_' ? '-' : (char)tolower((unsigned char)*p);
	return out;
}

static const char *type_path(const struct pod_maker *maker, enum role role)
{
	return arena_printf(maker->mem, "trainingInput.%sType",
			    role_name(role));
}

/* Puts `map` (taken) under the key if it is not empty. */
static void put_if_any(json_t *out, const char *key, json_t *map)
{
	if (json_object_size(map))
		json_put(out, key, map);
	else
		json_decref(map);
}

/* Requests GPUs in both maps of a container's resources. */
static void ask_gpus(const struct pod_maker *maker,
		     const struct machine_group *group, json_t *requests,
		     json_t *limits, json_t *selector)
{
	const char *type = group->accelerator_type;
	const struct maker *by = catalogue_maker(maker->catalogue, type);
	const struct kubernetes_block *block = maker->block;
	char path[64];

	if (!by) {
		snprintf(path, sizeof(path),
			 "trainingInput.%sConfig.acceleratorConfig",
			 role_name(group->role));
		kube_leave_out(maker->out, true, arena_strdup(maker->mem, path),
			       arena_printf(maker->mem,
					    "the catalogue names no resource "
					    "of Kubernetes for %s: its maker "
					    "is not known",
					    type));
		return;
	}
	json_put(limits, by->resource,
		 json_sprintf("%ld", group->accelerator_count));
	json_put(requests, by->resource,
		 json_sprintf("%ld", group->accelerator_count));
	if (by->gke && (!block || block->gpu_selector == GPU_SELECTOR_GKE))
		json_put_text(selector, "cloud.google.com/gke-accelerator",
			      gpu_label(maker, type));
}

/* Requests everything of a node that the node does not need itself. */
static void ask_machine(const struct pod_maker *maker,
			const struct machine *machine, json_t *out)
{
	double cpus =
		catalogue_allocatable(maker->catalogue, "cpu", machine->vcpus);
	double gib = catalogue_allocatable(maker->catalogue, "memory",
					   machine->memory_gb);

	json_put(out, "cpu", json_sprintf("%.0fm", floor(cpus * 100) * 10));
	json_put(out, "memory", json_sprintf("%.0fMi", floor(gib * 1024)));
}

static json_t *resources(const struct pod_maker *maker,
			 const struct machine_group *group, json_t *selector)
{
	const struct machine *machine = group->machine;
	json_t *out = json_object(), *requests = json_object();
	json_t *limits = json_object();

	if (machine && machine->tpu_chips) {
		kube_leave_out(maker->out, true, type_path(maker, group->role),
			       arena_printf(maker->mem,
					    "the catalogue does not know which "
					    "nodes have the TPUs of %s: use "
					    "workerType: cloud_tpu",
					    machine->name));
	} else if (machine) {
		ask_machine(maker, machine, requests);
		if (maker->block && maker->block->limits)
			json_object_update(limits, requests);
	} else {
		kube_leave_out(maker->out, false, type_path(maker, group->role),
			       group->type
				       ? "the catalogue does not know it, so "
					 "its pods ask for no CPUs and no "
					 "memory"
				       : "none is given, so its pods ask for "
					 "no CPUs and no memory");
	}
	if (group->accelerator_type && group->accelerator_count)
		ask_gpus(maker, group, requests, limits, selector);
	put_if_any(out, "limits", limits);
	put_if_any(out, "requests", requests);
	return out;
}

/* ---- pods -------------------------------------------------------------- */

/* The labels of GKE's nodes by kind of capacity, and the taint of nodes created
 * for a request (GKE docs, flex-start and queued provisioning; cluster
 * autoscaler, 2026). */
static void add_capacity(const struct kubernetes_block *block, json_t *spec,
			 json_t *selector)
{
	static const char *const labels[] = {
		[KUBE_CAPACITY_ANY] = NULL,
		[KUBE_CAPACITY_SPOT] = "cloud.google.com/gke-spot",
		[KUBE_CAPACITY_FLEX_START] = "cloud.google.com/gke-flex-start",
		[KUBE_CAPACITY_QUEUED] = "cloud.google.com/gke-queued",
	};
	const char *label = labels[block->capacity];

	if (label)
		json_put_text(selector, label, "true");
	if (block->capacity == KUBE_CAPACITY_QUEUED)
		json_put(spec, "tolerations",
			 json_pack("[{s:s,s:s,s:s}]", "key", label, "operator",
				   "Exists", "effect", "NoSchedule"));
	if (block->reservation)
		json_put_text(selector, "cloud.google.com/reservation-name",
			      block->reservation);
}

static void add_block(const struct pod_maker *maker, json_t *spec,
		      json_t *selector)
{
	const struct kubernetes_block *block = maker->block;
	json_t *pulls;
	size_t i;

	if (!block)
		return;
	add_capacity(block, spec, selector);
	for (i = 0; i < block->node_selector.count; i++)
		json_object_set_new(
			selector, block->node_selector.items[i].name,
			json_text(block->node_selector.items[i].value));
	if (block->service_account)
		json_put_text(spec, "serviceAccountName",
			      block->service_account);
	if (block->priority_class)
		json_put_text(spec, "priorityClassName", block->priority_class);
	if (!block->image_pull_secrets.count)
		return;
	pulls = json_array();
	for (i = 0; i < block->image_pull_secrets.count; i++)
		json_array_append_new(
			pulls,
			named("name", block->image_pull_secrets.items[i]));
	json_put(spec, "imagePullSecrets", pulls);
}

json_t *pod_spec(const struct pod_maker *maker,
		 const struct machine_group *group)
{
	const char *image = image_of(maker, group);
	json_t *spec = json_object(), *container = named("name", "main");
	const struct slice *slice;
	const struct tpu *tpu;
	json_t *selector = json_object(), *need;

	json_put_text(spec, "restartPolicy", "Never");
	json_put_int(spec, "terminationGracePeriodSeconds",
		     launcher_grace_s(maker->job));
	add_block(maker, spec, selector);
	/* The token is mounted only if the file names a service account. */
	if (!maker->block || !maker->block->service_account)
		json_put(spec, "automountServiceAccountToken", json_false());
	maker->out->has_image &= image != NULL;
	if (image)
		json_put_text(container, "image", image);
	else
		kube_leave_out(maker->out, true,
			       "trainingInput.masterConfig.imageUri",
			       "a pod runs a container image: set one with "
			       "what the program needs");
	add_command(maker, group, container);
	json_put(container, "env", variables(maker));
	slice = catalogue_host_slice(maker->catalogue, group->machine, &tpu);
	if (group->tpu)
		need = tpu_resources(maker, group->tpu, group->slice, selector);
	else if (slice)
		need = tpu_resources(maker, tpu, slice, selector);
	else
		need = resources(maker, group, selector);
	if (json_object_size(need))
		json_put(container, "resources", need);
	else
		json_decref(need);
	add_volumes(maker, spec, container);
	if (json_object_size(selector))
		json_put(spec, "nodeSelector", selector);
	else
		json_decref(selector);
	if (launcher_is_used(maker))
		launcher_add(maker, spec, container);
	json_put(spec, "containers", json_pack("[o]", container));
	return spec;
}
