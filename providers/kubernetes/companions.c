/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/companions.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base64.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/job/secret.h"
#include "providers/kubernetes/manifest/kube_source.h"

/* The file in the run's folder for the objects that the run's object must
 * own. */
#define OWNED_FILE "owned"

static const struct kube_type *const companions[] = { &type_secret,
						      &type_config_map,
						      &type_service };

/* ---- making ------------------------------------------------------------ */

/* Encodes the values of a Secret in base 64. */
static json_t *encode(const json_t *values)
{
	json_t *out = json_object();
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)values, key, value)
	{
		const char *text = json_string_value(value);
		struct buf coded = { 0 };

		buf_reserve(&coded, text ? 2 * strlen(text) + 4 : 4);
		base64_add(&coded, text ? text : "", text ? strlen(text) : 0);
		json_object_set_new(out, key, json_text(buf_text(&coded)));
		explicit_bzero(coded.data, coded.size);
		buf_done(&coded);
	}
	return out;
}

int companion_make(const struct kube_at *at, const struct kube_type *type,
		   const struct job *job, json_t *body, const json_t *values,
		   struct error *err)
{
	if (type == &type_secret)
		json_object_set_new(body, "data", encode(values));
	if (type == &type_config_map && source_fill(job, body, err) < 0)
		return -1;
	return object_apply(at, type, body, false, NULL, NULL, err);
}

/* Returns {"NAME": value} as a new value, or NULL. */
static json_t *secret_values(const struct job *job, struct error *err)
{
	const struct secret *secrets = job->jobrun.secrets.items;
	json_t *out = json_object(), *value;
	size_t i;

	for (i = 0; i < job->jobrun.secrets.count; i++) {
		value = job_secret(job, secrets[i].name, err);
		if (!value) {
			json_decref(out);
			return NULL;
		}
		json_object_set_new(out, secrets[i].name, value);
	}
	return out;
}

static int ensure_one(const struct kube_at *at, const struct kube_type *type,
		      const struct job *job, json_t *body, struct error *err)
{
	json_t *values = NULL, *there = NULL;
	int ret = object_get(at, type, object_meta(body, "name"), &there, err);

	json_decref(there);
	if (ret == 1 && type == &type_secret) {
		values = secret_values(job, err);
		ret = values ? 1 : -1;
	}
	if (ret == 1)
		ret = companion_make(at, type, job, body, values, err);
	json_decref(values);
	return ret < 0 ? error_prefix(err, "%s '%s'", type->kind,
				      object_meta(body, "name"))
		       : 0;
}

int companions_ensure(struct kube *kube, const struct kube_at *at,
		      const struct job *job, const struct kube_type *type,
		      struct error *err)
{
	struct arena *mem = arena_new();
	struct kube_job made = { 0 };
	int ret = kube_translate(job, kube->env.catalogue, mem, &made, err);

	if (ret == 0 && made.secret)
		ret = ensure_one(at, &type_secret, job, made.secret, err);
	if (ret == 0 && made.config_map)
		ret = ensure_one(at, &type_config_map, job, made.config_map,
				 err);
	if (ret == 0 && made.service && type == &type_job)
		ret = ensure_one(at, &type_service, job, made.service, err);
	kube_job_done(&made);
	arena_free(mem);
	return ret;
}

/* ---- all of a run ------------------------------------------------------ */

/* Returns the pod template of a run's object.  All its templates need the same
 * objects beside them. */
static const json_t *pod_of(const json_t *object)
{
	const json_t *spec = json_object_get(object, "spec");
	const json_t *jobs = json_object_get(spec, "replicatedJobs");

	if (jobs)
		spec = json_object_get(
			json_object_get(json_array_get(jobs, 0), "template"),
			"spec");
	return json_object_get(json_object_get(spec, "template"), "spec");
}

static bool has_secrets(const json_t *pod, const char *name)
{
	const json_t *container =
		json_array_get(json_object_get(pod, "containers"), 0);
	const json_t *one, *ref;
	size_t i;

	json_array_foreach(json_object_get(container, "env"), i, one)
	{
		ref = json_object_get(json_object_get(one, "valueFrom"),
				      "secretKeyRef");
		if (!strcmp(json_get_text(ref, "name", ""), name))
			return true;
	}
	return false;
}

static const char *source_of(const json_t *pod)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(pod, "volumes"), i, one)
	{
		if (!strcmp(json_get_text(one, "name", ""), SOURCE_VOLUME))
			return json_get_text(json_object_get(one, "configMap"),
					     "name", NULL);
	}
	return NULL;
}

const char *companion_of(const json_t *object, const struct kube_type *type)
{
	const json_t *pod = pod_of(object);
	const char *name = object_meta(object, "name");

	if (type == &type_secret)
		return has_secrets(pod, name) ? name : NULL;
	if (type == &type_config_map)
		return source_of(pod);
	/* For a JobSet the cluster creates the service. */
	return !strcmp(json_get_text(object, "kind", ""), type_job.kind) &&
			       *json_get_text(pod, "subdomain", "")
		       ? name
		       : NULL;
}

static int patch_one(const struct kube_at *at, const struct kube_type *type,
		     const char *name, const json_t *patch, struct error *err)
{
	struct arena *mem = arena_new();
	struct apiserver_request request = {
		.method = "PATCH",
		.path = type_path(type, at, name, mem),
		.type = TYPE_MERGE,
		.body = patch,
	};
	struct apiserver_answer answer = { 0 };
	int ret = apiserver_call(at->api, &request, &answer, err);

	if (ret < 0 && answer.status == 404)
		ret = 0;
	apiserver_answer_done(&answer);
	arena_free(mem);
	return ret;
}

/* Makes the run's object the owner.  blockOwnerDeletion is not set, as that
 * takes a right on the owner's finalizers, which nothing else here needs. */
static int own_all(const struct kube_at *at, const json_t *owner,
		   struct error *err)
{
	json_t *refs = json_array(), *one = json_object();
	json_t *meta = json_object(), *patch = json_object();
	const char *name;
	size_t i;
	int ret = 0;

	json_put_text(one, "apiVersion",
		      json_get_text(owner, "apiVersion", ""));
	json_put_text(one, "kind", json_get_text(owner, "kind", ""));
	json_put_text(one, "name", object_meta(owner, "name"));
	json_put_text(one, "uid", object_meta(owner, "uid"));
	json_array_append_new(refs, one);
	json_put(meta, "ownerReferences", refs);
	json_put(patch, "metadata", meta);
	for (i = 0; i < COUNT(companions) && ret == 0; i++) {
		name = companion_of(owner, companions[i]);
		if (name)
			ret = patch_one(at, companions[i], name, patch, err);
	}
	json_decref(patch);
	return ret < 0 ? error_prefix(err, "own what '%s' has",
				      object_meta(owner, "name"))
		       : 0;
}

int companions_own(const struct kube_at *at, const json_t *owner,
		   const char *folder, struct error *err)
{
	char *path = path_join(folder, OWNED_FILE);
	bool done = access(path, F_OK) == 0;
	int ret = done ? 0 : own_all(at, owner, err);

	if (ret == 0 && !done)
		ret = file_write(path, "", 0, err);
	free(path);
	return ret;
}

/* An object with that name may belong to somebody else. */
int companion_delete_own(const struct kube_at *at, const struct kube_type *type,
			 const char *name, const char *job_id,
			 struct error *err)
{
	json_t *there = NULL;
	int ret = object_get_own(at, type, name, job_id, &there, err);

	if (ret == 0)
		ret = object_delete(at, type, name, object_meta(there, "uid"),
				    "Background", err);
	json_decref(there);
	return ret < 0 ? -1 : 0;
}

int companions_delete(const struct kube_at *at, const json_t *owner,
		      const char *job_id, struct error *err)
{
	const char *name;
	size_t i;
	int ret = 0;

	for (i = 0; i < COUNT(companions) && ret == 0; i++) {
		name = companion_of(owner, companions[i]);
		if (name)
			ret = companion_delete_own(at, companions[i], name,
						   job_id, err);
	}
	return ret;
}
