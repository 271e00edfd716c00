/* SPDX-License-Identifier: Apache-2.0 */
/* The local record of a run: its entry in the store, and the tasks in the run's
 * folder, which readers of logs need. */
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/trial/trial_spec.h"
#include "providers/slurm/slurm_internal.h"
#include "providers/slurm/slurm.h"

/* Reads the record's properties: {"place", "name", "comment", "id", "program",
 * "trials"}. */
int slurm_record_read(const struct run_record *run, struct arena *mem,
		      struct slurm_record *out)
{
	const char *text = run->properties;
	struct error ignored;
	json_t *value =
		text ? json_read(text, strlen(text), "store", &ignored) : NULL;

	out->run = *run;
	out->place = arena_strdup(mem, json_get_text(value, "place", ""));
	out->name = arena_strdup(mem, json_get_text(value, "name", ""));
	out->comment = arena_strdup(mem, json_get_text(value, "comment", ""));
	out->id = arena_strdup(mem, json_get_text(value, "id", ""));
	out->program = arena_strdup(mem, json_get_text(value, "program", ""));
	out->trials = (long)json_get_int(value, "trials", 0);
	json_decref(value);
	return *out->place && *out->name ? 0 : 1;
}

int slurm_recorded(struct slurm *slurm, const char *job_id, struct arena *mem,
		   struct slurm_record *out, struct error *err)
{
	struct run_record run;
	int ret = store_run_get(slurm->env.store, job_id, 0, mem, &run, err);

	if (ret != 0)
		return ret;
	if (strcmp(run.provider, provider_slurm.name) != 0)
		return 1;
	return slurm_record_read(&run, mem, out);
}

/* Writes the values of the trials in the form that the cluster uses. */
static int write_values(const struct run_spec *spec, struct error *err)
{
	char *path = path_join(spec->folder, TRIAL_VALUES_FILE);
	json_t *values = trial_values_json(spec);
	int ret = json_file_write(path, values, err);

	json_decref(values);
	free(path);
	return ret;
}

static int write_spec(struct slurm *slurm, const struct run_record *run,
		      const struct slurm_job *what, struct arena *mem,
		      struct error *err)
{
	char *folder =
		store_run_folder(slurm->env.store, run->job_id, run->attempt);
	struct run_spec spec = what->spec;
	int ret;

	spec.attempt = run->attempt;
	spec.hosts = (struct run_hosts){ 0 };
	spec_set_folder(&spec, folder, mem);
	ret = spec_write(&spec, err);
	if (ret == 0 && what->request.trials)
		ret = write_values(&spec, err);
	free(folder);
	return ret;
}

int slurm_record(struct slurm *slurm, const struct job *job,
		 const struct slurm_cluster *at, const struct slurm_run *run,
		 struct error *err)
{
	struct arena *mem = arena_new();
	json_t *properties = json_object();
	struct slurm_record known;
	struct slurm_job what;
	struct run_record fresh;
	char *text = NULL;
	int ret = slurm_recorded(slurm, job->job_id, mem, &known, err);

	if (ret < 0 || (ret == 0 && !strcmp(known.name, run->name) &&
			!strcmp(known.place, cluster_place(at->cluster)))) {
		ret = ret < 0 ? -1 : 0;
		goto out;
	}
	ret = slurm_job_make(job, slurm->env.catalogue, mem, &what, err);
	if (ret < 0)
		goto out;
	json_put_text(properties, "place", cluster_place(at->cluster));
	json_put_text(properties, "name", run->name);
	json_put_text(properties, "comment", run->comment);
	json_put_text(properties, "id", run->id);
	json_put_text(properties, "program",
		      slurm_program_path(at->cluster, &what, mem));
	if (what.request.trials)
		json_put_int(properties, "trials", what.request.trials);
	text = json_canonical(properties);
	fresh = (struct run_record){ .job_id = job->job_id,
				     .provider = provider_slurm.name,
				     .digest = run->digest,
				     .digest2 = run->digest2,
				     .job_origin = run->origin,
				     .job_file = job->real_file,
				     .revision = run->revision,
				     .state = RUN_QUEUED,
				     .exit_code = -1,
				     .properties = text };
	ret = store_run_add(slurm->env.store, &fresh, err);
	if (ret == 0)
		ret = write_spec(slurm, &fresh, &what, mem, err);
out:
	free(text);
	json_decref(properties);
	arena_free(mem);
	return ret;
}
