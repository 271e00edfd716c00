/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/manifest/objects.h"

#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "providers/kubernetes/manifest/kube_names.h"

const struct kube_type type_secret = { "Secret", "/api/v1", "secrets" };
const struct kube_type type_config_map = { "ConfigMap", "/api/v1",
					   "configmaps" };
const struct kube_type type_service = { "Service", "/api/v1", "services" };
const struct kube_type type_pod = { "Pod", "/api/v1", "pods" };
const struct kube_type type_event = { "Event", "/api/v1", "events" };
const struct kube_type type_job = { "Job", "/apis/batch/v1", "jobs" };
const struct kube_type type_jobset = { "JobSet", "/apis/" JOBSET_GROUP,
				       "jobsets" };
const struct kube_type type_workload = { "Workload",
					 "/apis/" KUEUE_GROUP "v1beta1",
					 "workloads" };
const struct kube_type type_local_queue = { "LocalQueue",
					    "/apis/" KUEUE_VISIBILITY "v1beta1",
					    "localqueues" };

static const struct kube_type workload_2 = { "Workload",
					     "/apis/" KUEUE_GROUP "v1beta2",
					     "workloads" };
static const struct kube_type local_queue_2 = {
	"LocalQueue", "/apis/" KUEUE_VISIBILITY "v1beta2", "localqueues"
};

/* The newest first. */
static const struct kube_type *const kueue_types[] = {
	&workload_2, &type_workload, &local_queue_2, &type_local_queue
};

int kueue_type(const struct kube_at *at, const char *group,
	       const struct kube_type **out)
{
	struct error ignored;
	int has = 0;
	size_t i;

	for (i = 0; i < COUNT(kueue_types) && has == 0; i++) {
		const char *served = kueue_types[i]->root + strlen("/apis/");

		if (!text_starts(served, group))
			continue;
		has = apiserver_has(at->api, served, &ignored);
		*out = kueue_types[i];
	}
	return has;
}

const struct kube_type type_namespace = { "Namespace", "/api/v1",
					  "namespaces" };

const char *type_path(const struct kube_type *type, const struct kube_at *at,
		      const char *name, struct arena *mem)
{
	return arena_printf(mem, "%s/namespaces/%s/%s%s%s", type->root,
			    at->name_space, type->plural, name ? "/" : "",
			    name ? name : "");
}

int object_get(const struct kube_at *at, const struct kube_type *type,
	       const char *name, json_t **out, struct error *err)
{
	struct arena *mem = arena_new();
	struct apiserver_request request = {
		.method = "GET",
		.path = type_path(type, at, name, mem),
	};
	struct apiserver_answer answer = { 0 };
	int ret = apiserver_call(at->api, &request, &answer, err);

	if (ret == 0) {
		*out = answer.body;
		answer.body = NULL;
	} else if (answer.status == 404) {
		ret = 1;
	}
	apiserver_answer_done(&answer);
	arena_free(mem);
	return ret;
}

int object_apply(const struct kube_at *at, const struct kube_type *type,
		 const json_t *object, bool dry_run, json_t **out,
		 json_t **warnings, struct error *err)
{
	const char *query[] = { "fieldManager",
				FIELD_MANAGER,
				"fieldValidation",
				"Strict",
				NULL,
				NULL,
				NULL };
	struct arena *mem = arena_new();
	struct apiserver_request request = {
		.method = "PATCH",
		.path = type_path(type, at, object_meta(object, "name"), mem),
		.query = query,
		.type = TYPE_APPLY,
		.body = object,
	};
	struct apiserver_answer answer = { 0 };
	int ret;

	if (dry_run) {
		query[4] = "dryRun";
		query[5] = "All";
	}
	ret = apiserver_call(at->api, &request, &answer, err);
	if (ret == 0 && out) {
		*out = answer.body;
		answer.body = NULL;
	}
	if (ret == 0 && warnings) {
		*warnings = answer.warnings;
		answer.warnings = NULL;
	}
	apiserver_answer_done(&answer);
	arena_free(mem);
	return ret;
}

int object_take_away(const struct kube_at *at, const struct kube_type *type,
		     const char *name, const char *uid, const char *propagation,
		     json_t **out, struct error *err)
{
	struct arena *mem = arena_new();
	json_t *options = json_object(), *before;
	struct apiserver_request request = {
		.method = "DELETE",
		.path = type_path(type, at, name, mem),
		.body = options,
		.repeatable = true,
	};
	struct apiserver_answer answer = { 0 };
	int ret;

	json_put_text(options, "apiVersion", "v1");
	json_put_text(options, "kind", "DeleteOptions");
	json_put_text(options, "propagationPolicy", propagation);
	if (uid) {
		before = json_object();
		json_put_text(before, "uid", uid);
		json_put(options, "preconditions", before);
	}
	ret = apiserver_call(at->api, &request, &answer, err);
	/* An object with another uid is not the one that was meant. */
	if (ret < 0 && (answer.status == 404 || (uid && answer.status == 409)))
		ret = 1;
	/* A Status only says that the deletion is done. */
	if (ret == 0 && *object_meta(answer.body, "uid")) {
		*out = answer.body;
		answer.body = NULL;
	}
	apiserver_answer_done(&answer);
	json_decref(options);
	arena_free(mem);
	return ret;
}

int object_delete(const struct kube_at *at, const struct kube_type *type,
		  const char *name, const char *uid, const char *propagation,
		  struct error *err)
{
	json_t *was = NULL;
	int ret = object_take_away(at, type, name, uid, propagation, &was, err);

	json_decref(was);
	return ret < 0 ? -1 : 0;
}

const char *object_meta(const json_t *object, const char *name)
{
	return json_get_text(json_object_get(object, "metadata"), name, "");
}

static const char *meta_map(const json_t *object, const char *map,
			    const char *name)
{
	const json_t *meta = json_object_get(object, "metadata");

	return json_get_text(json_object_get(meta, map), name, "");
}

const char *object_label(const json_t *object, const char *name)
{
	return meta_map(object, "labels", name);
}

const char *object_note(const json_t *object, const char *name)
{
	return meta_map(object, "annotations", name);
}

int object_get_own(const struct kube_at *at, const struct kube_type *type,
		   const char *name, const char *job_id, json_t **out,
		   struct error *err)
{
	int ret = object_get(at, type, name, out, err);

	if (ret == 0 && strcmp(object_note(*out, KUBE_NOTE_JOB), job_id) != 0) {
		json_decref(*out);
		*out = NULL;
		ret = 1;
	}
	return ret;
}

bool object_condition(const json_t *object, const char *type,
		      const json_t **out)
{
	const json_t *all = json_object_get(json_object_get(object, "status"),
					    "conditions");
	const json_t *one;
	size_t i;

	json_array_foreach(all, i, one)
	{
		if (strcmp(json_get_text(one, "type", ""), type) != 0)
			continue;
		if (out)
			*out = one;
		return !strcmp(json_get_text(one, "status", ""), "True");
	}
	return false;
}

int object_check_owner(const json_t *object, const char *job_id,
		       struct error *err)
{
	const char *whose = object_note(object, KUBE_NOTE_JOB);

	if (!strcmp(whose, job_id))
		return 0;
	return error_set_final(
		err, ERROR_FAILED, "%s '%s' exists already and %s%s%s",
		json_get_text(object, "kind", "an object"),
		object_meta(object, "name"),
		*whose ? "belongs to the job '" : "was not created by jobrun",
		whose, *whose ? "'" : "");
}
