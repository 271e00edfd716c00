/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/record.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/remote/remote_run.h"
#include "providers/kubernetes/found_tasks.h"
#include "providers/kubernetes/manifest/kube_names.h"
#include "providers/kubernetes/manifest/kube_trials.h"
#include "providers/kubernetes/whereabouts.h"

#define PROVIDER "kubernetes"

/* The file in the run's folder with the desired run. */
#define WANTED_FILE "wanted.json"
#define WANTED_MAX (16u << 20)

static const char *take_text(const json_t *properties, const char *name,
			     struct arena *mem)
{
	return arena_strdup(mem, json_get_text(properties, name, ""));
}

void record_take(struct kube_record *out, const struct run_record *run,
		 const json_t *properties, struct arena *mem)
{
	*out = (struct kube_record){ .run = *run };
	out->place = arena_strdup(
		mem, json_get_text(properties, "place", KUBE_ANYWHERE));
	out->name = take_text(properties, "name", mem);
	out->uid = take_text(properties, "uid", mem);
	out->server = take_text(properties, "server", mem);
	out->ca = take_text(properties, "ca", mem);
	out->context = take_text(properties, "context", mem);
	out->user = take_text(properties, "user", mem);
	out->name_space = take_text(properties, "namespace", mem);
	out->where = take_text(properties, "where", mem);
	out->trials = json_is_true(json_object_get(properties, "trials"));
	out->type =
		!strcmp(json_get_text(properties, "kind", ""), type_job.kind)
			? &type_job
			: &type_jobset;
}

int record_get(struct kube *kube, const char *job_id, struct arena *mem,
	       struct kube_record *out, struct error *err)
{
	json_t *properties = NULL;
	struct run_record run;
	int ret = remote_run_get(&kube->env, PROVIDER, job_id, mem, &run,
				 &properties, err);

	if (ret == 0)
		record_take(out, &run, properties, mem);
	json_decref(properties);
	return ret;
}

json_t *record_wanted(struct kube *kube, const struct kube_record *record)
{
	char *folder = store_run_folder(kube->env.store, record->run.job_id,
					record->run.attempt);
	char *path = path_join(folder, WANTED_FILE);
	struct error ignored;
	json_t *out;

	json_file_read(path, WANTED_MAX, &out, &ignored);
	free(path);
	free(folder);
	return out ? out : json_object();
}

static int write_wanted(const char *folder, const json_t *object,
			struct error *err)
{
	const char *text = object_note(object, KUBE_NOTE_PROPERTIES);
	char *path = path_join(folder, WANTED_FILE);
	int ret = file_write(path, text, strlen(text), err);

	free(path);
	return ret;
}

static int put(struct kube *kube, const struct job *job, const char *place,
	       const struct kube_at *at, const struct kube_type *type,
	       const json_t *object, int64_t began_ms, struct error *err)
{
	struct arena *mem = arena_new();
	struct kube_record known;
	struct topology tasks;
	json_t *properties;
	char *folder = NULL;
	bool listed = !job->message;
	int ret = record_get(kube, job->job_id, mem, &known, err);

	if (ret == 1 ||
	    (ret == 0 && strcmp(known.uid, object_meta(object, "uid")) != 0)) {
		properties = json_object();
		json_put_text(properties, "place", place);
		json_put_text(properties, "kind", type->kind);
		json_put_text(properties, "name", object_meta(object, "name"));
		json_put_text(properties, "uid", object_meta(object, "uid"));
		whereabouts_put(at, properties);
		if (trials_are_wanted(job))
			json_put(properties, "trials", json_true());
		if (listed)
			found_tasks(object, mem, &tasks);
		ret = remote_run_add(&kube->env, PROVIDER, job,
				     listed ? &tasks : NULL,
				     object_note(object, KUBE_NOTE_DIGEST),
				     object_note(object, KUBE_NOTE_DIGEST_2),
				     object_note(object, KUBE_NOTE_ORIGIN),
				     began_ms, properties, &folder, err);
		if (ret == 0)
			ret = write_wanted(folder, object, err);
		json_decref(properties);
	}
	free(folder);
	arena_free(mem);
	return ret;
}

int record_put(struct kube *kube, const struct job *job, const char *place,
	       const struct kube_at *at, const struct kube_type *type,
	       const json_t *object, struct error *err)
{
	return put(kube, job, place, at, type, object, 0, err);
}

int record_put_found(struct kube *kube, const struct job *job,
		     const char *place, const struct kube_at *at,
		     const struct kube_type *type, const json_t *object,
		     struct error *err)
{
	int64_t began_ms = time_parse(object_meta(object, "creationTimestamp"));

	return put(kube, job, place, at, type, object,
		   began_ms > 0 ? began_ms : 0, err);
}

static const char *place_of(const json_t *properties, struct arena *mem)
{
	return arena_strdup(mem,
			    json_get_text(properties, "place", KUBE_ANYWHERE));
}

int record_list(struct kube *kube, const struct kind *kind, const char *place,
		struct listing *out, struct error *err)
{
	return remote_run_list(&kube->env, PROVIDER, kind, place_of, place, out,
			       err);
}
