/* SPDX-License-Identifier: Apache-2.0 */
/* The pods of a run: the task of each, its state, and why one waits. */
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/log/log_cause.h"
#include "providers/kubernetes/api/apiserver.h"
#include "providers/kubernetes/kube_follow.h"
#include "providers/kubernetes/manifest/kube_names.h"
#include "providers/kubernetes/manifest/kube_translate.h"
#include "providers/kubernetes/manifest/objects.h"

#define INDEX_NOTE "batch.kubernetes.io/job-completion-index"
#define POOL_LABEL "jobset.sigs.k8s.io/replicatedjob-name"

struct pods_walk {
	const struct kube_job *job;
	struct pods *out;
	size_t room;
};

static int64_t time_at(const json_t *object, const char *key)
{
	int64_t ms = time_parse(json_get_text(object, key, ""));

	return ms > 0 ? ms : 0;
}

/* Returns the ordinal of the pod's task, or -1. */
static long find_task(const struct kube_job *job, const json_t *pod)
{
	const char *pool = object_label(pod, POOL_LABEL);
	struct error ignored;
	long index;
	size_t i;

	if (number_parse(object_note(pod, INDEX_NOTE), 0, 1000000, &index,
			 &ignored) < 0)
		return -1;
	for (i = 0; i < job->pool_count; i++)
		if ((!*pool || !strcmp(pool, job->pools[i].name)) &&
		    (size_t)index < job->pools[i].count)
			return (long)job->pools[i].first + index;
	return -1;
}

static const json_t *first_state(const json_t *pod, const char *which)
{
	const json_t *all =
		json_object_get(json_object_get(pod, "status"), which);

	return json_object_get(json_array_get(all, 0), "state");
}

/* Returns the state of the program's container: {"running": …} and so on. */
static const json_t *container(const json_t *pod)
{
	return first_state(pod, "containerStatuses");
}

/* Returns the state of the launcher's container while it delays the program.
 * One that runs has no reason to give, and may be an agent beside it. */
static const json_t *launcher(const json_t *pod)
{
	const json_t *state = first_state(pod, "initContainerStatuses");
	const json_t *end = json_object_get(state, "terminated");

	return json_object_get(state, "running") ||
			       (end && json_get_int(end, "exitCode", 1) == 0)
		       ? NULL
		       : state;
}

/* Returns why a pod does not run, in plain words; NULL if it gives no
 * reason. */
static const char *why_pending(const json_t *pod, struct arena *mem)
{
	static const struct {
		const char *reason, *words;
	} known[] = {
		{ "ErrImagePull", "its image can't be pulled" },
		{ "ImagePullBackOff", "its image can't be pulled" },
		{ "InvalidImageName", "its image has no valid name" },
		{ "CreateContainerConfigError",
		  "its container can't be created" },
		{ "CreateContainerError", "its container can't be created" },
	};
	const json_t *first = launcher(pod);
	const json_t *wait =
		json_object_get(first ? first : container(pod), "waiting");
	const json_t *condition = NULL;
	const char *reason = json_get_text(wait, "reason", "");
	size_t i;

	for (i = 0; i < COUNT(known); i++)
		if (!strcmp(reason, known[i].reason))
			return arena_printf(
				mem, "pod '%s' waits: %s%s: %s",
				object_meta(pod, "name"),
				first ? "jobrun.kubernetes.launcher: " : "",
				known[i].words,
				json_get_text(wait, "message", ""));
	if (!object_condition(pod, "PodScheduled", &condition) && condition)
		return arena_printf(mem, "pod '%s' waits for a node: %s",
				    object_meta(pod, "name"),
				    json_get_text(condition, "message", ""));
	return NULL;
}

static enum run_state pod_state(const json_t *pod)
{
	const char *phase =
		json_get_text(json_object_get(pod, "status"), "phase", "");
	const json_t *condition = NULL;

	if (!strcmp(phase, "Running"))
		return RUN_RUNNING;
	if (!strcmp(phase, "Succeeded"))
		return RUN_SUCCEEDED;
	if (!strcmp(phase, "Failed"))
		return RUN_FAILED;
	return !object_condition(pod, "PodScheduled", &condition) && condition
		       ? RUN_QUEUED
		       : RUN_PREPARING;
}

/* Whether the pod is the newest of its task, which is the one that counts. */
static bool is_newer(const json_t *pod, const struct pod_task *task,
		     int64_t made_ms, int64_t *known_ms)
{
	if (task->pod && made_ms < *known_ms)
		return false;
	if (task->pod && made_ms == *known_ms &&
	    (task->state == RUN_RUNNING || task->state == RUN_SUCCEEDED) &&
	    pod_state(pod) == RUN_FAILED)
		return false;
	*known_ms = made_ms;
	return true;
}

static bool is_evicted(const json_t *pod)
{
	return !strcmp(
		json_get_text(json_object_get(pod, "status"), "reason", ""),
		"Evicted");
}

/* Returns the cluster's reason for the loss: what was low on the node, or which
 * pod came instead. */
static const char *why_lost(const json_t *pod, struct arena *mem)
{
	const json_t *condition = NULL;
	const char *said =
		json_get_text(json_object_get(pod, "status"), "message", "");

	object_condition(pod, "DisruptionTarget", &condition);
	if (!*said)
		said = json_get_text(condition, "message", "");
	return arena_strdup(mem, said);
}

/* Returns the line that gives the cause from the end of a log. */
static const char *cause_in(const char *text, struct arena *mem)
{
	struct buf cause = { 0 };
	const char *line;

	log_cause_find(text, strlen(text), &cause);
	line = arena_strdup(mem, buf_text(&cause));
	buf_done(&cause);
	return line;
}

static void take_task(struct pods *out, struct pod_task *task,
		      const json_t *pod)
{
	const json_t *now = container(pod);
	const json_t *broken = json_object_get(launcher(pod), "terminated");
	const json_t *end =
		broken ? broken : json_object_get(now, "terminated");
	const json_t *run = end ? end : json_object_get(now, "running");
	bool lost = object_condition(pod, "DisruptionTarget", NULL) ||
		    is_evicted(pod);

	*task = (struct pod_task){
		.pod = arena_strdup(out->mem, object_meta(pod, "name")),
		.node = arena_strdup(out->mem,
				     json_get_text(json_object_get(pod, "spec"),
						   "nodeName", "")),
		.state = pod_state(pod),
		.exit_code = end ? (int)json_get_int(end, "exitCode", 1) : -1,
		.launcher_said =
			broken ? cause_in(json_get_text(broken, "message", ""),
					  out->mem)
			       : NULL,
		.lost = lost,
		.lost_why = lost ? why_lost(pod, out->mem) : "",
		.starved =
			!strcmp(json_get_text(end, "reason", ""), "OOMKilled"),
		.start_ms = time_at(run, "startedAt"),
		.end_ms = time_at(end, "finishedAt"),
	};
	if (!out->waiting &&
	    (task->state == RUN_QUEUED || task->state == RUN_PREPARING))
		out->waiting = why_pending(pod, out->mem);
}

static void take_source(struct pods_walk *walk, size_t task, const json_t *pod)
{
	struct pods *out = walk->out;
	const json_t *now = container(pod);

	if (out->source_count == walk->room) {
		walk->room = walk->room ? 2 * walk->room : 16;
		out->sources = mem_grow(out->sources, walk->room,
					sizeof(*out->sources));
	}
	out->sources[out->source_count++] = (struct pod_source){
		.name = arena_strdup(out->mem, object_meta(pod, "name")),
		.uid = arena_strdup(out->mem, object_meta(pod, "uid")),
		.task = task,
		.started = json_object_get(now, "running") ||
			   json_object_get(now, "terminated"),
		.ended = json_object_get(now, "terminated"),
	};
}

static int take_page(void *arg, const json_t *page, struct error *err)
{
	struct pods_walk *walk = arg;
	struct pods *out = walk->out;
	const json_t *pod;
	int64_t *made_ms;
	size_t i;

	(void)err;
	if (!page) {
		out->source_count = 0;
		return 0;
	}
	made_ms = arena_alloc(out->mem, (out->count + 1) * sizeof(*made_ms));
	json_array_foreach(json_object_get(page, "items"), i, pod)
	{
		long task = find_task(walk->job, pod);

		if (task < 0)
			continue;
		if (is_newer(pod, &out->tasks[task],
			     time_at(json_object_get(pod, "metadata"),
				     "creationTimestamp"),
			     &made_ms[task]))
			take_task(out, &out->tasks[task], pod);
		take_source(walk, (size_t)task, pod);
	}
	return 0;
}

void pods_pools(const json_t *object, struct kube_job *out)
{
	const json_t *spec = json_object_get(object, "spec");
	const json_t *jobs = json_object_get(spec, "replicatedJobs"), *one;
	size_t i;

	if (!jobs) {
		out->pools[out->pool_count++] = (struct kube_pool){
			.name = "",
			.count = (size_t)json_get_int(spec, "completions", 1)
		};
	}
	json_array_foreach(jobs, i, one)
	{
		const json_t *job = json_object_get(
			json_object_get(one, "template"), "spec");

		if (out->pool_count == KUBE_POOL_MAX)
			break;
		out->pools[out->pool_count++] = (struct kube_pool){
			.name = json_get_text(one, "name", ""),
			.first = out->tasks.count,
			.count = (size_t)json_get_int(job, "completions", 1),
		};
		out->tasks.count += out->pools[i].count;
	}
	if (!jobs)
		out->tasks.count = out->pools[0].count;
}

int pods_read(const struct kube_at *at, const char *name,
	      const struct kube_job *job, struct pods *out, struct error *err)
{
	struct pods_walk walk = { .job = job, .out = out };
	const char *query[] = { "labelSelector", NULL, NULL };
	int ret;

	*out = (struct pods){ .mem = arena_new(), .count = job->tasks.count };
	out->tasks =
		arena_alloc(out->mem, (out->count + 1) * sizeof(*out->tasks));
	query[1] = arena_printf(out->mem, "%s=%s", KUBE_LABEL_JOB, name);
	ret = apiserver_list(at->api, type_path(&type_pod, at, NULL, out->mem),
			     query, take_page, &walk, err);
	if (ret < 0)
		pods_done(out);
	return ret;
}

void pods_done(struct pods *pods)
{
	free(pods->sources);
	if (pods->mem)
		arena_free(pods->mem);
	*pods = (struct pods){ 0 };
}
