/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/success.h"

#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/provider/listing.h"
#include "core/provider/provider.h"
#include "providers/kubernetes/companions.h"
#include "providers/kubernetes/manifest/kube_names.h"
#include "providers/kubernetes/list.h"
#include "providers/kubernetes/run.h"

#define SUFFIX "-succeeded"
/* The label differs from that of a job, so nothing that cleans up after runs
 * finds the object. */
#define LABEL "jobrun-succeeded"
#define OURS "jobrun-"
/* Names the run that has succeeded; older versions did not note it. */
#define NOTE_UID OURS "uid"
/* Longer annotations are left out. */
#define NOTE_MAX 16384

static const char *success_name(const char *name, struct arena *mem)
{
	return arena_printf(mem, "%s" SUFFIX, name);
}

/* Returns our annotations of a run, without long ones, as a new value. */
static json_t *small_notes(const json_t *object)
{
	json_t *all = json_object_get(json_object_get(object, "metadata"),
				      "annotations");
	json_t *out = json_object(), *value;
	const char *key;

	json_object_foreach(all, key, value)
	{
		if (text_starts(key, OURS) &&
		    json_string_length(value) <= NOTE_MAX)
			json_object_set(out, key, value);
	}
	return out;
}

void success_put(const struct kube_at *at, const json_t *object)
{
	struct arena *mem = arena_new();
	json_t *body = json_object(), *meta = json_object();
	json_t *labels = json_object(), *notes;
	struct error ignored;

	json_put_text(body, "apiVersion", "v1");
	json_put_text(body, "kind", type_config_map.kind);
	json_put_text(meta, "name",
		      success_name(object_meta(object, "name"), mem));
	json_put_text(labels, LABEL, object_label(object, KUBE_LABEL_JOB));
	json_put_text(labels, KUBE_LABEL_ATTEMPT,
		      object_label(object, KUBE_LABEL_ATTEMPT));
	json_put_text(labels, KUBE_LABEL_CLEANUP,
		      object_label(object, KUBE_LABEL_CLEANUP));
	json_put(meta, "labels", labels);
	notes = small_notes(object);
	json_put_text(notes, NOTE_UID, object_meta(object, "uid"));
	json_put(meta, "annotations", notes);
	json_put(body, "metadata", meta);
	if (json_object_get(json_object_get(object, "spec"),
			    "ttlSecondsAfterFinished"))
		object_apply(at, &type_config_map, body, false, NULL, NULL,
			     &ignored);
	json_decref(body);
	arena_free(mem);
}

/* 1: there is none, or nobody may look. */
static int get_record(const struct kube_at *at, const char *job_id,
		      const char *name, json_t **out, struct error *err)
{
	struct arena *mem = arena_new();
	int ret = object_get_own(at, &type_config_map, success_name(name, mem),
				 job_id, out, err);

	arena_free(mem);
	return ret < 0 && err->code == ERROR_DENIED ? 1 : ret;
}

int success_show(const struct kube_at *at, const char *job_id, const char *name,
		 struct resource *found, struct error *err)
{
	json_t *object = NULL;
	int ret = get_record(at, job_id, name, &object, err);

	if (ret == 0 && run_attempt_of(object) > found->run.attempt) {
		run_show(object, RUN_SUCCEEDED, NULL, found);
		found->run.exit_code = 0;
	}
	json_decref(object);
	return ret < 0 ? -1 : 0;
}

int success_is_known(const struct kube_at *at, const char *job_id,
		     const char *name, const char *uid, const char *digest,
		     struct error *err)
{
	json_t *object = NULL;
	int ret = get_record(at, job_id, name, &object, err);
	const char *known = object_note(object, NOTE_UID);

	if (ret >= 0)
		ret = ret == 0 &&
		      !strcmp(object_note(object, KUBE_NOTE_DIGEST), digest) &&
		      (!*known || !strcmp(known, uid));
	json_decref(object);
	return ret;
}

int success_delete(const struct kube_at *at, const char *job_id,
		   const char *name, struct error *err)
{
	struct arena *mem = arena_new();
	int ret = companion_delete_own(at, &type_config_map,
				       success_name(name, mem), job_id, err);

	arena_free(mem);
	return ret;
}

int success_list(const struct kube_at *at, const struct kind *kind,
		 const char *place, struct listing *out, struct error *err)
{
	size_t before = out->count, i;
	int ret = list_objects(at, &type_config_map, LABEL, kind, place, out,
			       err);

	for (i = before; ret == 0 && i < out->count; i++) {
		out->items[i].live = false;
		out->items[i].succeeded = true;
	}
	return ret;
}
