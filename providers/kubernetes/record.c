/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/run/spec.h"
#include "providers/kubernetes/names.h"

int record_get(struct kube *kube, const char *job_id, struct arena *mem,
	       struct kube_record *out, struct error *err)
{
	struct error ignored;
	json_t *value;
	int ret;

	if (!kube->env.store)
		return 1;
	ret = store_run_get(kube->env.store, job_id, 0, mem, &out->run, err);
	if (ret != 0)
		return ret;
	if (strcmp(out->run.provider, "kubernetes") != 0)
		return 1;
	value = out->run.properties ? json_read(out->run.properties,
						strlen(out->run.properties),
						"store", &ignored)
				    : NULL;
	out->place = arena_strdup(mem, json_get_text(value, "place", "@"));
	out->name = arena_strdup(mem, json_get_text(value, "name", ""));
	out->uid = arena_strdup(mem, json_get_text(value, "uid", ""));
	out->properties =
		arena_strdup(mem, json_get_text(value, "properties", "{}"));
	out->type = !strcmp(json_get_text(value, "kind", ""), type_job.kind)
			    ? &type_job
			    : &type_jobset;
	json_decref(value);
	return 0;
}

static int write_spec(struct kube *kube, const struct job *job,
		      const struct run_record *run, struct arena *mem,
		      struct error *err)
{
	char *folder =
		store_run_folder(kube->env.store, run->job_id, run->attempt);
	struct run_spec spec;
	const char *missing;
	int ret = spec_from_job(job, kube->env.catalogue, mem, &spec, &missing,
				err);

	if (ret == 0) {
		spec.attempt = run->attempt;
		spec_set_folder(&spec, folder, mem);
		/* Nothing is run by it here; a container knows its own. */
		if (!spec.command.count) {
			spec.command.count = 1;
			spec.command.items =
				arena_alloc(mem, sizeof(const char *));
			spec.command.items[0] = "the container's entry point";
		}
		if (!spec.directory)
			spec.directory = folder;
		ret = spec_write(&spec, err);
	}
	free(folder);
	return ret;
}

int record_put(struct kube *kube, const struct job *job, const char *place,
	       const struct kube_type *type, const json_t *object,
	       struct error *err)
{
	struct arena *mem = arena_new();
	json_t *properties = json_object();
	struct kube_record known;
	struct run_record run;
	char *text = NULL;
	int ret = record_get(kube, job->job_id, mem, &known, err);

	if (ret < 0 ||
	    (ret == 0 && !strcmp(known.uid, object_meta(object, "uid"))))
		goto out;
	json_put_text(properties, "place", place);
	json_put_text(properties, "kind", type->kind);
	json_put_text(properties, "name", object_meta(object, "name"));
	json_put_text(properties, "uid", object_meta(object, "uid"));
	json_put_text(properties, "properties",
		      object_note(object, KUBE_NOTE_PROPERTIES));
	text = json_canonical(properties);
	run = (struct run_record){ .job_id = job->job_id,
				   .provider = "kubernetes",
				   .digest = object_note(object,
							 KUBE_NOTE_DIGEST),
				   .state = RUN_QUEUED,
				   .exit_code = -1,
				   .properties = text };
	ret = store_run_add(kube->env.store, &run, err);
	if (ret == 0)
		ret = write_spec(kube, job, &run, mem, err);
out:
	free(text);
	json_decref(properties);
	arena_free(mem);
	return ret;
}
