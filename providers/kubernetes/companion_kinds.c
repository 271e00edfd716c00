/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of a job's objects beside its run, for plans and the executor. */
#include <string.h>

#include "core/base/base64.h"
#include "core/base/json.h"
#include "providers/kubernetes/companions.h"
#include "providers/kubernetes/list.h"
#include "providers/kubernetes/rights.h"
#include "providers/kubernetes/manifest/kube_names.h"

static const struct kube_type *type_of(const struct kind *kind)
{
	if (kind == &kind_kube_secret)
		return &type_secret;
	return kind == &kind_kube_config_map ? &type_config_map : &type_service;
}

/* Decodes the values of a Secret, which are in base 64, to {"KEY": text}. */
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

/* Returns the properties in the form that `desire` gives. */
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

static int companion_read(void *ctx, const struct resource *want,
			  struct resource *found, struct error *err)
{
	const struct kube_type *type = type_of(want->kind);
	json_t *object = NULL;
	struct kube_at at;
	int ret;

	/* A resource that is only to be forgotten needs no cluster, but a plan
	 * does. */
	if ((!want->job || !want->job->file) && !kube_is_known(want->place))
		return 0;
	if (kube_find(ctx, want->place, &at, err) < 0)
		return -1;
	/* Without this right nothing is read, and the plan says so:
	 * rights.h. */
	if (want->job && want->job->file && !rights_may(ctx, &at, "get", type))
		return 0;
	ret = object_get(&at, type, want->name, &object, err);
	if (ret == 1)
		return 0;
	if (ret == 0 && want->job)
		ret = object_check_owner(object, want->job->job_id, err);
	if (ret == 0 && !*object_meta(object, "deletionTimestamp")) {
		found->exists = true;
		found->properties = properties_of(type, object);
	}
	json_decref(object);
	return ret;
}

static int companion_create(void *ctx, const struct resource *want,
			    struct error *err)
{
	json_t *body = json_deep_copy(json_object_get(want->request, "body"));
	struct kube_at at;
	int ret = kube_find(ctx, want->place, &at, err);

	if (ret == 0)
		ret = companion_make(
			&at, type_of(want->kind), want->job, body,
			json_object_get(want->properties, "values"), err);
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

static int list_companions(struct kube *kube, const struct kind *kind,
			   const char *place, struct listing *out,
			   struct error *err)
{
	struct kube_at at;

	if (!kube_is_known(place))
		return 0;
	if (kube_find(kube, place, &at, err) < 0)
		return -1;
	return list_objects(&at, type_of(kind), KUBE_LABEL_JOB, kind, place,
			    out, err);
}

static int secret_list(void *ctx, const char *place, struct listing *out,
		       struct error *err)
{
	struct kube_at at;

	if (!kube_is_known(place))
		return 0;
	if (kube_find(ctx, place, &at, err) < 0)
		return -1;
	return rights_may(ctx, &at, "get", &type_secret)
		       ? list_secrets(&at, &kind_kube_secret, place, out, err)
		       : 0;
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
