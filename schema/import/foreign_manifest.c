/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests of Kubernetes: Job, JobSet, TrainJob. */
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/job/traits.h"
#include "schema/import/foreign.h"

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

/* Whether the label can be one of the job's, which are those of Google. */
static bool is_plain(const char *key, const json_t *value)
{
	const char *letters = "abcdefghijklmnopqrstuvwxyz0123456789_-";
	const char *text = json_string_value(value);

	return *key >= 'a' && *key <= 'z' && text &&
	       !key[strspn(key, letters)] && !text[strspn(text, letters)];
}

static void take_labels(struct foreign *foreign, json_t *labels)
{
	json_t *plain = json_object(), *value;
	const char *key;
	void *next;

	json_object_foreach_safe(labels, next, key, value)
	{
		if (!is_plain(key, value))
			continue;
		json_object_set(plain, key, value);
		json_object_del(labels, key);
	}
	if (json_object_size(plain))
		import_set(foreign->import->job, "labels", json_incref(plain));
	json_decref(plain);
}

/* Keeps metadata and fields that jobrun.kubernetes.job can express. */
static void keep_job(struct foreign *foreign, json_t *meta, json_t *spec)
{
	json_t *out = json_object(), *kept;
	char *path = mem_printf("jobrun.%s.job", foreign->block);

	kept = foreign_keep(foreign, meta, "job", "metadata");
	if (json_object_size(kept))
		json_object_set(out, "metadata", kept);
	json_decref(kept);
	kept = foreign_keep(foreign, spec, "job", "spec");
	if (json_object_size(kept))
		json_object_set(out, "spec", kept);
	json_decref(kept);
	if (json_object_size(out))
		import_set(foreign->import->job, path, json_incref(out));
	json_decref(out);
	free(path);
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
	take_labels(foreign, labels);
	if (!json_object_size(labels))
		json_object_del(meta, "labels");
	/* kubectl's copy of the manifest. */
	json_object_del(json_object_get(meta, "annotations"),
			"kubectl.kubernetes.io/last-applied-configuration");
	json_object_del(foreign->value, "apiVersion");
	json_object_del(foreign->value, "kind");
	json_object_del(foreign->value, "status");
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
}

/* Takes pods that are all alike: the first is the master, the others are
 * workers. */
static void take_alike(struct foreign *foreign, json_t *template, long count,
		       const char *path)
{
	struct foreign_pool pool = { .role = 1,
				     .count = count - 1,
				     .path = path };
	json_t *copy;

	if (count > 1) {
		copy = json_deep_copy(template);
		foreign_take_pod(foreign, copy, &pool);
		json_decref(copy);
	}
	pool = (struct foreign_pool){ .count = 1, .path = path };
	foreign_take_pod(foreign, template, &pool);
}

static int take_job(struct foreign *foreign, struct error *err)
{
	json_t *spec = json_object_get(foreign->value, "spec");
	long count = take_count(spec);

	(void)err;
	take_metadata(foreign);
	take_job_spec(foreign, spec);
	take_alike(foreign, json_object_get(spec, "template"), count,
		   "spec.template");
	keep_job(foreign, json_object_get(foreign->value, "metadata"), spec);
	return 0;
}

static bool is_job(const json_t *value)
{
	return is_kind(value, "batch/", "Job");
}

/* Takes one kind of a JobSet's pods. */
static void take_replicated(struct foreign *foreign, json_t *one, size_t role,
			    bool alone)
{
	char *path = mem_printf("spec.replicatedJobs.%zu", role);
	json_t *job = json_object_get(json_object_get(one, "template"), "spec");
	json_t *template = json_object_get(job, "template");
	json_t *replicas = foreign_take(one, "replicas");
	long count = take_count(job) *
		     (replicas ? (long)json_integer_value(replicas) : 1);
	struct foreign_pool pool = { .role = role,
				     .count = count,
				     .path = path };

	json_decref(replicas);
	/* A JobSet restarts as a whole, so its jobs never restart. */
	drop(job, "backoffLimit", "0");
	if (alone)
		take_alike(foreign, template, count, path);
	else
		foreign_take_pod(foreign, template, &pool);
	if (!alone && !role && count > 1)
		import_loss(foreign->import,
			    "%s: %ld replicas of the first kind: there is one "
			    "master",
			    foreign->file, count);
	take_job_spec(foreign, job);
	free(path);
}

/* Says what became of each kind of pods. */
static void note_roles(struct foreign *foreign, json_t *list)
{
	static const char *const roles[FOREIGN_ROLES] = {
		"the master", "the workers", "the parameter servers",
		"the evaluators"
	};
	struct buf text = { 0 };
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		json_t *name = foreign_take(one, "name");

		buf_printf(&text, "%s\"%s\" %s %s", i ? ", " : "",
			   json_is_string(name) ? json_string_value(name) : "",
			   i ? "are" : "is", roles[i]);
		json_decref(name);
	}
	if (i > 1)
		import_note(foreign->import, "replicatedJobs: %s",
			    buf_text(&text));
	buf_done(&text);
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
	note_roles(foreign, list);
	json_array_foreach(list, i, one)
		take_replicated(foreign, one, i, json_array_size(list) == 1);
	keep_job(foreign, json_object_get(foreign->value, "metadata"), NULL);
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
	json_t *trainer = foreign_take(spec, "trainer"), *template;
	json_t *containers;
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
	containers = json_pack("[o]", trainer ? trainer : json_object());
	template = json_pack("{s:{s:o}}", "spec", "containers", containers);
	take_alike(foreign, template, count, "spec.trainer");
	json_object_set(spec, "trainer", json_array_get(containers, 0));
	json_decref(template);
	keep_job(foreign, json_object_get(foreign->value, "metadata"), NULL);
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
