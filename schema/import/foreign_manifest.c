/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests of Kubernetes: Job, JobSet, TrainJob. */
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/job/traits.h"
#include "schema/import/foreign.h"

#define GPU_LABEL "cloud.google.com/gke-accelerator"
#define QUEUE_LABEL "kueue.x-k8s.io/queue-name"

static bool is_kind(const json_t *value, const char *group, const char *kind)
{
	return text_starts(json_get_text(value, "apiVersion", ""), group) &&
	       !strcmp(json_get_text(value, "kind", ""), kind);
}

/* Drops a value that is the default anyway. */
static void drop(json_t *map, const char *path, const char *usual)
{
	json_t *value = foreign_take(map, path);
	char text[64];

	if (value && usual &&
	    (json_is_boolean(value)
		     ? strcmp(json_is_true(value) ? "true" : "false", usual) !=
			       0
		     : !foreign_text(value, text, sizeof(text)) ||
			       strcmp(text, usual) != 0))
		import_set(map, path, json_incref(value));
	json_decref(value);
}

static void take_metadata(struct foreign *foreign)
{
	json_t *meta = json_object_get(foreign->value, "metadata");
	json_t *labels = json_object_get(meta, "labels");
	json_t *queue = foreign_take_key(labels, QUEUE_LABEL);
	char *path = mem_printf("jobrun.%s.queue", foreign->block);

	foreign_name(foreign, foreign_take(meta, "name"));
	foreign_move_own(foreign, meta, "namespace", "namespace");
	if (queue)
		import_set(foreign->import->job, path, queue);
	free(path);
	if (json_object_size(labels))
		foreign_move(foreign, meta, "labels", "labels");
	json_object_del(foreign->value, "apiVersion");
	json_object_del(foreign->value, "kind");
	json_object_del(foreign->value, "status");
}

/* Takes [{name, value}]; an entry of another form, or with another value than
 * before, stays. */
static void take_env(struct foreign *foreign, json_t *container)
{
	json_t *list = json_object_get(container, "env"), *item, *value, *have;
	char text[4096];
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *name = json_get_text(item, "name", "");

		value = json_object_get(item, "value");
		have = json_object_get(
			import_get(foreign->import->job, "jobrun.env"), name);
		if (!foreign_text(value, text, sizeof(text)) ||
		    (have && strcmp(json_string_value(have), text) != 0))
			continue;
		if (!import_get(foreign->import->job, "jobrun.env"))
			import_set(foreign->import->job, "jobrun.env",
				   json_object());
		json_put_text(import_get(foreign->import->job, "jobrun.env"),
			      name, text);
		json_object_clear(item);
	}
}

static double take_amount(json_t *resources, const char *key, double plain)
{
	json_t *limits = json_object_get(resources, "limits");
	json_t *requests = json_object_get(resources, "requests");
	json_t *value = foreign_take_key(requests, key);
	json_t *limit = foreign_take_key(limits, key);
	double out = 0;
	char text[64];

	if (foreign_text(value ? value : limit, text, sizeof(text)))
		out = text_ends(text, "m") ? atof(text) / 1000
					   : foreign_gb(text, plain);
	json_decref(value);
	json_decref(limit);
	return out;
}

/* Takes GPUs, whose type is known only from a label of the nodes. */
static void take_gpus(struct foreign *foreign, json_t *resources,
		      json_t *selector, struct foreign_pool *out)
{
	const struct catalogue *all = foreign->catalogue;
	json_t *limits = json_object_get(resources, "limits");
	const char *label = json_get_text(selector, GPU_LABEL, NULL);
	const char *type = label ? foreign_accelerator(foreign, label) : NULL;
	char text[32];
	size_t i;

	for (i = 0; type && i < all->maker_count; i++) {
		const char *key = all->makers[i].resource;
		json_t *count = json_object_get(limits, key);

		if (!foreign_text(count, text, sizeof(text)))
			continue;
		out->accelerator = type;
		out->accelerators = strtol(text, NULL, 10);
		json_object_del(limits, key);
		json_object_del(json_object_get(resources, "requests"), key);
		json_object_del(selector, GPU_LABEL);
	}
}

static void take_resources(struct foreign *foreign, json_t *resources,
			   json_t *selector, struct foreign_pool *out)
{
	out->cpus = take_amount(resources, "cpu", 1);
	out->memory_gb = take_amount(resources, "memory", 1e-9);
	take_gpus(foreign, resources, selector, out);
}

/* Returns a volume as {"claim": "x"}, or NULL if it has another form. */
static json_t *volume_source(json_t *volume)
{
	static const char *const forms[][3] = {
		{ "persistentVolumeClaim", "claimName", "claim" },
		{ "configMap", "name", "configMap" },
		{ "secret", "secretName", "secret" },
		{ "hostPath", "path", "hostPath" },
		{ "emptyDir", "sizeLimit", "memory" },
	};
	size_t i;

	for (i = 0; i < COUNT(forms); i++) {
		json_t *form = json_object_get(volume, forms[i][0]);
		json_t *value = json_object_get(form, forms[i][1]);
		json_t *out;

		if (!value ||
		    (i == 4 &&
		     strcmp(json_get_text(form, "medium", ""), "Memory") != 0))
			continue;
		out = json_object();
		json_put(out, forms[i][2], json_incref(value));
		json_object_del(form, forms[i][1]);
		json_object_del(form, "medium");
		return out;
	}
	return NULL;
}

static void take_volume(struct foreign *foreign, json_t *volumes, json_t *mount)
{
	json_t *volume = NULL, *source;
	const char *name = json_get_text(mount, "name", "");
	char *path;
	size_t i;

	json_array_foreach(
		volumes, i,
		volume) if (!strcmp(json_get_text(volume, "name", ""),
				    name)) break;
	source = i < json_array_size(volumes) ? volume_source(volume) : NULL;
	if (!source)
		return;
	json_put(source, "path", foreign_take(mount, "mountPath"));
	if (json_is_true(json_object_get(mount, "readOnly")))
		json_put(source, "readOnly", json_true());
	json_object_del(mount, "readOnly");
	path = mem_printf("jobrun.%s.volumes", foreign->block);
	if (!import_get(foreign->import->job, path))
		import_set(foreign->import->job, path, json_object());
	json_put(import_get(foreign->import->job, path), name, source);
	free(path);
	json_object_del(mount, "name");
	json_object_del(volume, "name");
}

static void take_container(struct foreign *foreign, json_t *pod,
			   struct foreign_pool *pool)
{
	json_t *container =
		json_array_get(json_object_get(pod, "containers"), 0);
	json_t *mounts = json_object_get(container, "volumeMounts"), *mount;
	size_t i;

	if (!container)
		return;
	json_object_del(container, "name");
	json_object_del(container, "imagePullPolicy");
	foreign_pool_set(foreign, pool->role, "Config.imageUri",
			 foreign_take(container, "image"));
	foreign_pool_set(foreign, pool->role, "Config.containerCommand",
			 foreign_take(container, "command"));
	foreign_pool_set(foreign, pool->role, "Config.containerArgs",
			 foreign_take(container, "args"));
	take_env(foreign, container);
	take_resources(foreign, json_object_get(container, "resources"),
		       json_object_get(pod, "nodeSelector"), pool);
	json_array_foreach(mounts, i, mount)
		take_volume(foreign, json_object_get(pod, "volumes"), mount);
}

/* Takes names of secrets: [{name: a}] becomes [a]. */
static void take_secrets(struct foreign *foreign, json_t *pod)
{
	json_t *list = foreign_take(pod, "imagePullSecrets"), *item;
	json_t *names = json_array();
	char *path = mem_printf("jobrun.%s.imagePullSecrets", foreign->block);
	size_t i;

	json_array_foreach(list, i, item) json_array_append_new(
		names, json_text(json_get_text(item, "name", "")));
	if (json_array_size(names))
		import_set(foreign->import->job, path, json_incref(names));
	json_decref(names);
	json_decref(list);
	free(path);
}

static void take_pod(struct foreign *foreign, json_t *pod,
		     struct foreign_pool *pool)
{
	drop(pod, "restartPolicy", "Never");
	drop(pod, "restartPolicy", "OnFailure");
	take_container(foreign, pod, pool);
	foreign_move_own(foreign, pod, "serviceAccountName", "serviceAccount");
	foreign_move_own(foreign, pod, "priorityClassName", "priorityClass");
	take_secrets(foreign, pod);
	if (json_object_size(json_object_get(pod, "nodeSelector")))
		foreign_move_own(foreign, pod, "nodeSelector", "nodeSelector");
	foreign_pool_put(foreign, pool);
}

static void take_seconds(struct foreign *foreign, json_t *map, const char *key,
			 const char *field)
{
	json_t *value = foreign_take(map, key);

	if (value)
		import_set(foreign->import->job, field,
			   json_sprintf("%llds",
					(long long)json_integer_value(value)));
	json_decref(value);
}

/* Takes the number of pods; parallelism and completions stay if they differ. */
static long take_count(json_t *spec)
{
	json_t *wide = json_object_get(spec, "parallelism");
	json_t *whole = json_object_get(spec, "completions");
	long count = (long)json_integer_value(wide ? wide : whole);

	if (!wide || !whole || json_equal(wide, whole)) {
		json_object_del(spec, "parallelism");
		json_object_del(spec, "completions");
	}
	return count > 0 ? count : 1;
}

static void take_job_spec(struct foreign *foreign, json_t *spec)
{
	char *ttl = mem_printf("jobrun.%s.ttl", foreign->block);

	take_seconds(foreign, spec, "activeDeadlineSeconds",
		     FOREIGN_IN "scheduling.maxRunningTime");
	take_seconds(foreign, spec, "ttlSecondsAfterFinished", ttl);
	free(ttl);
	foreign_move(foreign, spec, "backoffLimit",
		     "jobrun.restart.maxRestarts");
	drop(spec, "completionMode", "Indexed");
	drop(spec, "suspend", "false");
	json_object_del(json_object_get(spec, "template"), "metadata");
}

/* Takes pods that are all alike: the first is the master, the others are
 * workers.  Notes about all of them would come twice, so those of the workers
 * are dropped. */
static void take_alike(struct foreign *foreign, json_t *pod, long count)
{
	struct foreign_pool pool = { .role = 1, .count = count - 1 };
	json_t *copy;

	if (count > 1) {
		copy = json_deep_copy(pod);
		take_pod(foreign, copy, &pool);
		json_decref(copy);
		json_decref(foreign->import->notes);
		foreign->import->notes = json_array();
	}
	pool = (struct foreign_pool){ .count = 1 };
	take_pod(foreign, pod, &pool);
}

static int take_job(struct foreign *foreign, struct error *err)
{
	json_t *spec = json_object_get(foreign->value, "spec");
	json_t *pod =
		json_object_get(json_object_get(spec, "template"), "spec");
	long count = take_count(spec);

	(void)err;
	take_metadata(foreign);
	take_job_spec(foreign, spec);
	take_alike(foreign, pod, count);
	return 0;
}

static bool is_job(const json_t *value)
{
	return is_kind(value, "batch/", "Job");
}

static int take_jobset(struct foreign *foreign, struct error *err)
{
	json_t *spec = json_object_get(foreign->value, "spec"), *one;
	json_t *list = json_object_get(spec, "replicatedJobs");
	size_t i;

	take_metadata(foreign);
	foreign_move(foreign, spec, "failurePolicy.maxRestarts",
		     "jobrun.restart.maxRestarts");
	drop(spec, "suspend", "false");
	drop(spec, "network.enableDNSHostnames", "true");
	if (json_array_size(list) > FOREIGN_ROLES)
		return error_set(err, ERROR_INVALID,
				 "a job has at most %d kinds of replicas",
				 FOREIGN_ROLES);
	json_array_foreach(list, i, one)
	{
		json_t *job = json_object_get(json_object_get(one, "template"),
					      "spec");
		json_t *pod = json_object_get(json_object_get(job, "template"),
					      "spec");
		json_t *replicas = foreign_take(one, "replicas");
		long count =
			take_count(job) *
			(replicas ? (long)json_integer_value(replicas) : 1);
		struct foreign_pool pool = { .role = i, .count = count };

		json_decref(replicas);
		json_object_del(one, "name");
		/* A JobSet restarts as a whole, so its jobs never restart. */
		drop(job, "backoffLimit", "0");
		if (json_array_size(list) == 1)
			take_alike(foreign, pod, count);
		else
			take_pod(foreign, pod, &pool);
		if (json_array_size(list) > 1 && !i && count > 1)
			import_loss(foreign->import,
				    "%s: %ld replicas of the first kind: there "
				    "is one master",
				    foreign->file, count);
		take_job_spec(foreign, job);
	}
	return 0;
}

static bool is_jobset(const json_t *value)
{
	return is_kind(value, "jobset.x-k8s.io/", "JobSet");
}

/* Takes a TrainJob: its trainer is a container with a number of nodes. */
static int take_trainjob(struct foreign *foreign, struct error *err)
{
	json_t *spec = json_object_get(foreign->value, "spec");
	json_t *trainer = foreign_take(spec, "trainer"), *pod;
	json_t *nodes = foreign_take(trainer, "numNodes");
	json_t *resources = foreign_take(trainer, "resourcesPerNode");
	json_t *processes = foreign_take(trainer, "numProcPerNode");
	long count = nodes ? (long)json_integer_value(nodes) : 1;

	(void)err;
	take_metadata(foreign);
	drop(spec, "suspend", "false");
	if (resources)
		json_put(trainer, "resources", resources);
	if (processes)
		import_set(foreign->import->job, "jobrun.processesPerHost",
			   processes);
	json_decref(nodes);
	/* What is left of the copy stays in the trainer. */
	pod = json_pack("{s:[o]}", "containers",
			trainer ? trainer : json_object());
	take_alike(foreign, pod, count);
	json_object_set(spec, "trainer",
			json_array_get(json_object_get(pod, "containers"), 0));
	json_decref(pod);
	return 0;
}

static bool is_trainjob(const json_t *value)
{
	return is_kind(value, "trainer.kubeflow.org/", "TrainJob");
}

const struct foreign_form foreign_job = {
	.name = "a Kubernetes Job",
	.traits = TRAIT_LAUNCHER,
	.is = is_job,
	.take = take_job,
};

const struct foreign_form foreign_jobset = {
	.name = "a Kubernetes JobSet",
	.traits = TRAIT_LAUNCHER,
	.is = is_jobset,
	.take = take_jobset,
};

const struct foreign_form foreign_trainjob = {
	.name = "a Kubeflow TrainJob",
	.traits = TRAIT_LAUNCHER,
	.is = is_trainjob,
	.take = take_trainjob,
};
