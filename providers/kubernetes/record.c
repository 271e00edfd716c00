/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/record.h"

#include <string.h>

#include "core/base/json.h"
#include "core/run/remembered.h"
#include "providers/kubernetes/names.h"

#define PROVIDER "kubernetes"

static void take_properties(struct kube_record *out, const json_t *value,
			    struct arena *mem)
{
	out->place =
		arena_strdup(mem, json_get_text(value, "place", KUBE_ANYWHERE));
	out->name = arena_strdup(mem, json_get_text(value, "name", ""));
	out->uid = arena_strdup(mem, json_get_text(value, "uid", ""));
	out->properties =
		arena_strdup(mem, json_get_text(value, "properties", "{}"));
	out->type = !strcmp(json_get_text(value, "kind", ""), type_job.kind)
			    ? &type_job
			    : &type_jobset;
}

int record_get(struct kube *kube, const char *job_id, struct arena *mem,
	       struct kube_record *out, struct error *err)
{
	json_t *value = NULL;
	int ret = remembered_get(&kube->env, PROVIDER, job_id, mem, &out->run,
				 &value, err);

	if (ret == 0)
		take_properties(out, value, mem);
	json_decref(value);
	return ret;
}

int record_put(struct kube *kube, const struct job *job, const char *place,
	       const struct kube_type *type, const json_t *object,
	       struct error *err)
{
	struct arena *mem = arena_new();
	struct kube_record known;
	json_t *properties;
	int ret = record_get(kube, job->job_id, mem, &known, err);

	if (ret == 1 ||
	    (ret == 0 && strcmp(known.uid, object_meta(object, "uid")) != 0)) {
		properties = json_object();
		json_put_text(properties, "place", place);
		json_put_text(properties, "kind", type->kind);
		json_put_text(properties, "name", object_meta(object, "name"));
		json_put_text(properties, "uid", object_meta(object, "uid"));
		json_put_text(properties, "properties",
			      object_note(object, KUBE_NOTE_PROPERTIES));
		ret = remembered_add(&kube->env, PROVIDER, job,
				     object_note(object, KUBE_NOTE_DIGEST),
				     properties, err);
		json_decref(properties);
	}
	arena_free(mem);
	return ret;
}

static const char *place_of(const json_t *properties, struct arena *mem)
{
	return arena_strdup(mem,
			    json_get_text(properties, "place", KUBE_ANYWHERE));
}

int record_list(struct kube *kube, const struct kind *kind, const char *place,
		struct listing *out, struct error *err)
{
	return remembered_list(&kube->env, PROVIDER, kind, place_of, place, out,
			       err);
}
