/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the API in general, and those that a job has beside its run. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base64.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/run/secret.h"
#include "providers/kubernetes/internal.h"
#include "providers/kubernetes/names.h"
#include "providers/kubernetes/source.h"

const struct kube_type type_secret = { "Secret", "/api/v1", "secrets" };
const struct kube_type type_config_map = { "ConfigMap", "/api/v1",
					   "configmaps" };
const struct kube_type type_service = { "Service", "/api/v1", "services" };
const struct kube_type type_pod = { "Pod", "/api/v1", "pods" };
const struct kube_type type_event = { "Event", "/api/v1", "events" };
const struct kube_type type_job = { "Job", "/apis/batch/v1", "jobs" };
const struct kube_type type_jobset = { "JobSet", "/apis/" JOBSET_GROUP,
				       "jobsets" };
const struct kube_type type_workload = { "Workload", "/apis/" KUEUE_GROUP,
					 "workloads" };

/* In the folder of a run that owns what is beside it. */
#define OWNED_FILE "owned"

/* What a job has beside its run. */
static const struct kube_type *const companions[] = { &type_secret,
						      &type_config_map,
						      &type_service };

/* ---- the API ----------------------------------------------------------- */

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
		.secret = type == &type_secret,
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
		 char **warning, struct error *err)
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
		.secret = type == &type_secret,
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
	if (ret == 0 && warning) {
		*warning = answer.warning;
		answer.warning = NULL;
	}
	apiserver_answer_done(&answer);
	arena_free(mem);
	return ret;
}

int object_delete(const struct kube_at *at, const struct kube_type *type,
		  const char *name, const char *uid, const char *propagation,
		  struct error *err)
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
	/* Another one of its name is not what was meant. */
	if (ret < 0 && (answer.status == 404 || (uid && answer.status == 409)))
		ret = 0;
	apiserver_answer_done(&answer);
	json_decref(options);
	arena_free(mem);
	return ret;
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

/* ---- all of a job ------------------------------------------------------ */

struct companions {
	const struct kube_at *at;
	const struct kube_type *type;
	const char *owner; /* the patch, or NULL: they are deleted */
	json_t *patch;
	json_t *names;
};

static int take_names(void *arg, const json_t *page, struct error *err)
{
	struct companions *c = arg;
	const json_t *item;
	size_t i;

	(void)err;
	if (!page)
		json_array_clear(c->names);
	json_array_foreach(json_object_get(page, "items"), i, item)
	{
		json_array_append_new(c->names,
				      json_text(object_meta(item, "name")));
	}
	return 0;
}

static int change_one(const struct companions *c, const char *name,
		      struct error *err)
{
	struct arena *mem = arena_new();
	struct apiserver_request request = {
		.method = "PATCH",
		.path = type_path(c->type, c->at, name, mem),
		.type = TYPE_MERGE,
		.body = c->patch,
		.secret = c->type == &type_secret,
	};
	struct apiserver_answer answer = { 0 };
	int ret;

	if (!c->patch)
		ret = object_delete(c->at, c->type, name, NULL, "Background",
				    err);
	else
		ret = apiserver_call(c->at->api, &request, &answer, err);
	if (ret < 0 && answer.status == 404)
		ret = 0;
	apiserver_answer_done(&answer);
	arena_free(mem);
	return ret;
}

/* What they are changed by, or with NULL deleted. */
static int change_all(const struct kube_at *at, const char *job_name,
		      json_t *patch, struct error *err)
{
	struct arena *mem = arena_new();
	const char *query[] = {
		"labelSelector",
		arena_printf(mem, "%s=%s", KUBE_LABEL_JOB, job_name), NULL
	};
	struct companions c = { .at = at, .patch = patch };
	const json_t *name;
	size_t i, j;
	int ret = 0;

	for (i = 0; i < COUNT(companions) && ret == 0; i++) {
		c.type = companions[i];
		c.names = json_array();
		ret = apiserver_list(at->api, type_path(c.type, at, NULL, mem),
				     query, take_names, &c, err);
		json_array_foreach(c.names, j, name)
		{
			if (ret == 0)
				ret = change_one(&c, json_string_value(name),
						 err);
		}
		json_decref(c.names);
	}
	arena_free(mem);
	return ret;
}

int objects_own(const struct kube_at *at, const char *job_name,
		const json_t *owner, struct error *err)
{
	json_t *refs = json_array(), *one = json_object();
	json_t *meta = json_object(), *patch = json_object();
	int ret;

	json_put_text(one, "apiVersion",
		      json_get_text(owner, "apiVersion", ""));
	json_put_text(one, "kind", json_get_text(owner, "kind", ""));
	json_put_text(one, "name", object_meta(owner, "name"));
	json_put_text(one, "uid", object_meta(owner, "uid"));
	json_put(one, "blockOwnerDeletion", json_true());
	json_array_append_new(refs, one);
	json_put(meta, "ownerReferences", refs);
	json_put(patch, "metadata", meta);
	ret = change_all(at, job_name, patch, err);
	json_decref(patch);
	return ret < 0 ? error_prefix(err, "own what '%s' has", job_name) : 0;
}

int objects_own_once(const struct kube_at *at, const char *job_name,
		     const json_t *owner, const char *folder, struct error *err)
{
	char *path = path_join(folder, OWNED_FILE);
	bool done = access(path, F_OK) == 0;
	int ret = done ? 0 : objects_own(at, job_name, owner, err);

	if (ret == 0 && !done)
		ret = file_write(path, "", 0, err);
	free(path);
	return ret;
}

int objects_delete(const struct kube_at *at, const char *job_name,
		   struct error *err)
{
	return change_all(at, job_name, NULL, err);
}

/* ---- their kinds ------------------------------------------------------- */

static const struct kube_type *type_of(const struct kind *kind)
{
	if (kind == &kind_kube_secret)
		return &type_secret;
	return kind == &kind_kube_config_map ? &type_config_map : &type_service;
}

/* Values of a Secret are in base 64: {"KEY": text}. */
static json_t *decode(const json_t *data)
{
	json_t *out = json_object();
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)data, key, value)
	{
		struct buf text = { 0 };
		const char *coded = json_string_value(value);

		if (coded && base64_decode(&text, coded, strlen(coded)))
			json_object_set_new(out, key,
					    json_text(buf_text(&text)));
		if (text.data)
			explicit_bzero(text.data, text.size);
		buf_done(&text);
	}
	return out;
}

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

/* As `desire` has them. */
static json_t *properties_of(const struct kube_type *type, const json_t *object)
{
	json_t *out = json_object();

	if (type == &type_secret)
		json_put(out, "values",
			 decode(json_object_get(object, "data")));
	else if (type == &type_service)
		json_put_text(out, "clusterIP",
			      json_get_text(json_object_get(object, "spec"),
					    "clusterIP", ""));
	else
		json_put(out, "immutable", json_true());
	return out;
}

static int check_owner(const struct resource *want, const json_t *object,
		       struct error *err)
{
	const char *whose = object_note(object, KUBE_NOTE_JOB);

	if (!want->job || !strcmp(whose, want->job->job_id))
		return 0;
	return error_set_final(
		err, ERROR_FAILED, "'%s' is there already and %s%s%s",
		object_meta(object, "name"),
		*whose ? "belongs to the job '" : "was not made by jobrun",
		whose, *whose ? "'" : "");
}

static int companion_read(void *ctx, const struct resource *want,
			  struct resource *found, struct error *err)
{
	const struct kube_type *type = type_of(want->kind);
	json_t *object = NULL;
	struct kube_at at;
	int ret;

	if (!kube_is_known(want->place))
		return 0;
	if (kube_find(ctx, want->place, &at, err) < 0)
		return -1;
	ret = object_get(&at, type, want->name, &object, err);
	if (ret == 0)
		ret = check_owner(want, object, err);
	else if (ret == 1)
		return 0;
	if (ret == 0 && !*object_meta(object, "deletionTimestamp")) {
		found->exists = true;
		found->properties = properties_of(type, object);
	}
	json_decref(object);
	return ret;
}

static int ensure_one(const struct kube_at *at, const struct kube_type *type,
		      const struct job *job, json_t *body, struct error *err)
{
	const struct secret *secrets = job->jobrun.secrets.items;
	json_t *values = json_object(), *there = NULL, *value;
	size_t i;
	int ret = object_get(at, type, object_meta(body, "name"), &there, err);

	json_decref(there);
	if (ret == 1)
		ret = type == &type_config_map ? source_fill(job, body, err)
					       : 0;
	else
		goto out;
	for (i = 0;
	     type == &type_secret && ret == 0 && i < job->jobrun.secrets.count;
	     i++) {
		value = job_secret(job, secrets[i].name, err);
		if (value)
			json_object_set_new(values, secrets[i].name, value);
		else
			ret = -1;
	}
	if (ret == 0 && type == &type_secret)
		json_object_set_new(body, "data", encode(values));
	if (ret == 0)
		ret = object_apply(at, type, body, false, NULL, NULL, err);
out:
	json_decref(values);
	return ret < 0 ? error_prefix(err, "%s '%s'", type->kind,
				      object_meta(body, "name"))
		       : 0;
}

int objects_ensure(struct kube *kube, const struct kube_at *at,
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

static int companion_create(void *ctx, const struct resource *want,
			    struct error *err)
{
	const struct kube_type *type = type_of(want->kind);
	json_t *body = json_deep_copy(json_object_get(want->request, "body"));
	struct kube_at at;
	int ret = kube_find(ctx, want->place, &at, err);

	if (ret == 0 && type == &type_secret)
		json_object_set_new(
			body, "data",
			encode(json_object_get(want->properties, "values")));
	if (ret == 0 && type == &type_config_map)
		ret = source_fill(want->job, body, err);
	if (ret == 0)
		ret = object_apply(&at, type, body, false, NULL, NULL, err);
	json_decref(body);
	return ret;
}

static int companion_delete(void *ctx, const struct resource *have,
			    struct error *err)
{
	struct kube_at at;

	if (kube_find(ctx, have->place, &at, err) < 0)
		return -1;
	return object_delete(&at, type_of(have->kind), have->name, NULL,
			     "Background", err);
}

struct listing_walk {
	const struct kind *kind;
	const char *place;
	struct listing *out;
};

void object_listed(const struct kind *kind, const char *place,
		   const json_t *object, struct listing *out)
{
	const char *expires = object_note(object, KUBE_NOTE_EXPIRES);
	const char *set = object_note(object, KUBE_NOTE_SET);
	struct listed one = {
		.kind = kind,
		.name = object_meta(object, "name"),
		.place = place,
		.labels = { .job_id = object_note(object, KUBE_NOTE_JOB),
			    .digest = object_note(object, KUBE_NOTE_DIGEST),
			    .set = *set ? set : NULL,
			    .cleanup = cleanup_parse(
				    object_label(object, KUBE_LABEL_CLEANUP)) },
		.create_time_ms =
			time_parse(object_meta(object, "creationTimestamp")),
	};

	if (*expires)
		one.labels.expire_time_ms = time_parse(expires);
	if (kind->flags & KIND_RUN) {
		enum run_state state = state_of(object);

		one.name = one.labels.job_id;
		one.live = !run_state_is_final(state);
		one.succeeded = state == RUN_SUCCEEDED;
	}
	if (*one.labels.job_id)
		listing_add(out, &one);
}

static int take_listed(void *arg, const json_t *page, struct error *err)
{
	struct listing_walk *walk = arg;
	const json_t *item;
	size_t i;

	(void)err;
	json_array_foreach(json_object_get(page, "items"), i, item)
		object_listed(walk->kind, walk->place, item, walk->out);
	return 0;
}

static int list_companions(struct kube *kube, const struct kind *kind,
			   const char *place, struct listing *out,
			   struct error *err)
{
	static const char *const query[] = { "labelSelector", KUBE_LABEL_JOB,
					     NULL };
	struct listing_walk walk = { kind, place ? place : KUBE_ANYWHERE, out };
	struct arena *mem;
	struct kube_at at;
	int ret;

	if (!kube_is_known(place))
		return 0;
	if (kube_find(kube, place, &at, err) < 0)
		return -1;
	mem = arena_new();
	ret = apiserver_list(at.api, type_path(type_of(kind), &at, NULL, mem),
			     query, take_listed, &walk, err);
	arena_free(mem);
	return ret;
}

static int secret_list(void *ctx, const char *place, struct listing *out,
		       struct error *err)
{
	return list_companions(ctx, &kind_kube_secret, place, out, err);
}

static int config_map_list(void *ctx, const char *place, struct listing *out,
			   struct error *err)
{
	return list_companions(ctx, &kind_kube_config_map, place, out, err);
}

static int service_list(void *ctx, const char *place, struct listing *out,
			struct error *err)
{
	return list_companions(ctx, &kind_kube_service, place, out, err);
}

const struct kind kind_kube_secret = {
	.name = "secret",
	.read = companion_read,
	.create = companion_create,
	.update = companion_create,
	.delete = companion_delete,
	.list = secret_list,
};

const struct kind kind_kube_config_map = {
	.name = "config-map",
	.read = companion_read,
	.create = companion_create,
	.delete = companion_delete,
	.list = config_map_list,
};

const struct kind kind_kube_service = {
	.name = "service",
	.read = companion_read,
	.create = companion_create,
	.update = companion_create,
	.delete = companion_delete,
	.list = service_list,
};
