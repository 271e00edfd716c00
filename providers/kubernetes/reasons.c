/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/reasons.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "providers/kubernetes/kube_state.h"
#include "providers/kubernetes/manifest/objects.h"

#define JOBSET_LABEL "jobset.sigs.k8s.io/jobset-name"
/* Controllers take less time than this to look at a new object. */
#define CONTROLLER_MS 10000

static bool is_owned(const json_t *object, const char *uid)
{
	const json_t *owners = json_object_get(
		json_object_get(object, "metadata"), "ownerReferences");
	const json_t *one;
	size_t i;

	json_array_foreach(owners, i, one)
	{
		if (!strcmp(json_get_text(one, "uid", ""), uid))
			return true;
	}
	return false;
}

/* ---- the Jobs of a JobSet ---------------------------------------------- */

struct child_jobs {
	const char *uid; /* the JobSet's */
	json_t *jobs;
};

static int take_children(void *arg, const json_t *page, struct error *err)
{
	struct child_jobs *out = arg;
	json_t *job;
	size_t i;

	(void)err;
	if (!page)
		json_array_clear(out->jobs);
	json_array_foreach(json_object_get(page, "items"), i, job)
	{
		if (is_owned(job, out->uid))
			json_array_append(out->jobs, job);
	}
	return 0;
}

/* Returns the Jobs of a JobSet as a new value: empty for a Job, and if they
 * can't be listed. */
static json_t *children_of(const struct kube_at *at, const json_t *object,
			   struct arena *mem)
{
	const char *query[] = { "labelSelector",
				arena_printf(mem, JOBSET_LABEL "=%s",
					     object_meta(object, "name")),
				NULL };
	struct child_jobs out = { object_meta(object, "uid"), json_array() };
	struct error ignored;

	if (!strcmp(json_get_text(object, "kind", ""), type_jobset.kind))
		apiserver_list(at->api, type_path(&type_job, at, NULL, mem),
			       query, take_children, &out, &ignored);
	return out.jobs;
}

const char *why_child_failed(const struct kube_at *at, const json_t *object,
			     struct arena *mem)
{
	json_t *jobs = children_of(at, object, mem), *job;
	const char *why = NULL;
	int64_t first_ms = 0;
	size_t i;

	json_array_foreach(jobs, i, job)
	{
		int64_t end_ms = state_end_ms(job);

		if (!object_condition(job, "Failed", NULL) ||
		    (why && end_ms >= first_ms))
			continue;
		why = state_why(job, mem);
		first_ms = end_ms;
	}
	json_decref(jobs);
	return why;
}

/* ---- events ------------------------------------------------------------ */

struct newest {
	json_t *event; /* owned, or NULL */
	int64_t time_ms;
};

static int64_t event_ms(const json_t *event)
{
	const json_t *series = json_object_get(event, "series");
	const char *text = json_get_text(series, "lastObservedTime", "");

	if (!*text)
		text = json_get_text(event, "lastTimestamp", "");
	if (!*text)
		text = json_get_text(event, "eventTime", "");
	return time_parse(text);
}

static int take_event(void *arg, const json_t *page, struct error *err)
{
	struct newest *out = arg;
	json_t *item;
	size_t i;

	(void)err;
	json_array_foreach(json_object_get(page, "items"), i, item)
	{
		int64_t time_ms = event_ms(item);

		if (out->event && time_ms < out->time_ms)
			continue;
		json_decref(out->event);
		out->event = json_incref(item);
		out->time_ms = time_ms;
	}
	return 0;
}

/* Returns the newest warning about exactly this object; NULL if there is
 * none. */
static const char *warning_about(const struct kube_at *at, const char *uid,
				 struct arena *mem)
{
	static const char creating[] = "Error creating: ";
	const char *query[] = {
		"fieldSelector",
		arena_printf(mem, "involvedObject.uid=%s,type=Warning", uid),
		NULL
	};
	struct newest out = { 0 };
	struct error ignored;
	const char *message, *why = NULL;

	apiserver_list(at->api, type_path(&type_event, at, NULL, mem), query,
		       take_event, &out, &ignored);
	message = json_get_text(out.event, "message", "");
	if (text_starts(message, creating))
		message += sizeof(creating) - 1;
	if (out.event)
		why = arena_printf(mem, "%s: %s",
				   json_get_text(out.event, "reason", ""),
				   message);
	json_decref(out.event);
	return why;
}

/* Returns a warning about the first Job that lacks pods and has one. */
static const char *warning_about_jobs(const struct kube_at *at,
				      const json_t *jobs, struct arena *mem)
{
	const json_t *job, *status;
	const char *why = NULL;
	size_t i;

	json_array_foreach(jobs, i, job)
	{
		status = json_object_get(job, "status");
		if (json_get_int(status, "active", 0) +
			    json_get_int(status, "succeeded", 0) <
		    json_get_int(json_object_get(job, "spec"), "completions",
				 1))
			why = warning_about(at, object_meta(job, "uid"), mem);
		if (why)
			break;
	}
	return why;
}

/* Returns a warning about a pod with a node but no state of its own, which
 * waits for its volumes or for something its sandbox lacks. */
static const char *warning_about_pods(const struct kube_at *at,
				      const struct pods *pods,
				      struct arena *mem)
{
	const char *why = NULL;
	size_t i;

	for (i = 0; i < pods->source_count && !why; i++) {
		const struct pod_source *one = &pods->sources[i];
		const struct pod_task *task = &pods->tasks[one->task];

		if (one->started || task->state != RUN_PREPARING ||
		    strcmp(one->name, task->pod) != 0)
			continue;
		why = warning_about(at, one->uid, mem);
		if (why)
			return arena_printf(mem, "pod '%s' waits: %s",
					    one->name, why);
		break;
	}
	return NULL;
}

/* ---- Kueue ------------------------------------------------------------- */

struct reason {
	const char *uid;
	const char *workload; /* its name */
	const char *text;
	struct arena *mem;
};

/* Takes from the conditions of Kueue's Workload what it waits for, and why it
 * was evicted. */
static int take_workload(void *arg, const json_t *page, struct error *err)
{
	struct reason *out = arg;
	const json_t *item, *quota, *evicted;
	size_t i;

	(void)err;
	json_array_foreach(json_object_get(page, "items"), i, item)
	{
		quota = evicted = NULL;
		if (!is_owned(item, out->uid) ||
		    object_condition(item, "QuotaReserved", &quota))
			continue;
		out->workload =
			arena_strdup(out->mem, object_meta(item, "name"));
		out->text = arena_strdup(out->mem,
					 json_get_text(quota, "message", ""));
		if (object_condition(item, "Evicted", &evicted))
			out->text = arena_printf(
				out->mem, "%s%sevicted: %s", out->text,
				*out->text ? "; " : "",
				json_get_text(evicted, "message", ""));
	}
	return 0;
}

static int find_place(void *arg, const json_t *page, struct error *err)
{
	struct reason *out = arg;
	const json_t *item;
	size_t i;

	(void)err;
	json_array_foreach(json_object_get(page, "items"), i, item)
	{
		if (!strcmp(object_meta(item, "name"), out->workload))
			out->text = arena_printf(
				out->mem, "at place %lld",
				json_get_int(item, "positionInLocalQueue", 0) +
					1);
	}
	return 0;
}

/* Returns " at place 3" if Kueue shows its queues, else "". */
static const char *place_in_queue(const struct kube_at *at,
				  const json_t *object, const char *workload,
				  struct arena *mem)
{
	struct reason out = { .workload = workload, .mem = mem };
	const struct kube_type *type;
	struct error ignored;
	const char *path;

	if (kueue_type(at, KUEUE_VISIBILITY, &type) <= 0)
		return "";
	path = arena_printf(
		mem, "%s/" KUEUE_PENDING,
		type_path(type, at, object_label(object, KUEUE_LABEL), mem));
	apiserver_list(at->api, path, NULL, find_place, &out, &ignored);
	return out.text ? arena_printf(mem, " %s", out.text) : "";
}

static const char *why_queued(const struct kube_at *at, const json_t *object,
			      struct arena *mem)
{
	struct reason out = { .uid = object_meta(object, "uid"), .mem = mem };
	const char *queue = object_label(object, KUEUE_LABEL);
	const struct kube_type *type;
	struct error ignored;
	int has;

	if (!*queue)
		return NULL;
	has = kueue_type(at, KUEUE_GROUP, &type);
	if (has == 0)
		return arena_printf(mem,
				    "the cluster has no Kueue: nothing waits "
				    "in queue '%s'",
				    queue);
	if (has > 0)
		apiserver_list(at->api, type_path(type, at, NULL, mem), NULL,
			       take_workload, &out, &ignored);
	if (!out.text)
		return NULL;
	return arena_printf(mem, "waits in Kueue's queue%s%s%s",
			    place_in_queue(at, object, out.workload, mem),
			    *out.text ? ": " : "", out.text);
}

/* ---- a run ------------------------------------------------------------- */

/* Returns why the run waits if no controller has looked at its object; NULL if
 * one has. */
static const char *why_unseen(const json_t *object, struct arena *mem)
{
	int64_t made_ms = time_parse(object_meta(object, "creationTimestamp"));

	if (json_object_get(object, "status") ||
	    time_now_ms() - made_ms < CONTROLLER_MS)
		return NULL;
	return arena_printf(mem,
			    "nothing has seen %s '%s' yet: does its controller "
			    "run?",
			    json_get_text(object, "kind", ""),
			    object_meta(object, "name"));
}

/* Whether a task has no pod. */
static bool lacks_pods(const struct pods *pods)
{
	size_t i;

	for (i = 0; i < pods->count; i++)
		if (!pods->tasks[i].pod)
			return true;
	return false;
}

const char *why_waiting(const struct kube_at *at, const json_t *object,
			const struct pods *pods, struct arena *mem)
{
	const char *why = why_queued(at, object, mem);
	json_t *jobs;

	if (!why && state_is_suspended(object))
		return "suspended";
	if (!why && lacks_pods(pods))
		why = warning_about(at, object_meta(object, "uid"), mem);
	if (!why && lacks_pods(pods)) {
		jobs = children_of(at, object, mem);
		why = warning_about_jobs(at, jobs, mem);
		json_decref(jobs);
	}
	if (!why)
		why = warning_about_pods(at, pods, mem);
	return why ? why : why_unseen(object, mem);
}
