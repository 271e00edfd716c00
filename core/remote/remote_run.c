/* SPDX-License-Identifier: Apache-2.0 */
#include "core/remote/remote_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/job/job.h"
#include "core/job/origin.h"
#include "core/trial/trial_folder.h"

json_t *remote_run_properties(const struct run_record *run)
{
	struct error ignored;

	return run->properties
		       ? json_read(run->properties, strlen(run->properties),
				   "store", &ignored)
		       : NULL;
}

int remote_run_get(const struct provider_env *env, const char *provider,
		   const char *job_id, struct arena *mem,
		   struct run_record *out, json_t **properties,
		   struct error *err)
{
	int ret;

	if (!env->store)
		return 1;
	ret = store_run_get(env->store, job_id, 0, mem, out, err);
	if (ret != 0)
		return ret;
	if (strcmp(out->provider, provider) != 0)
		return 1;
	*properties = remote_run_properties(out);
	return 0;
}

static int write_spec(const struct provider_env *env, const struct job *job,
		      const struct topology *tasks,
		      const struct run_record *run, struct arena *mem,
		      struct error *err)
{
	char *folder = store_run_folder(env->store, run->job_id, run->attempt);
	struct run_spec spec = { .job_id = run->job_id };
	const char *missing;
	int ret = 0;

	if (tasks)
		spec.topology = *tasks;
	else
		ret = spec_from_job(job, env->catalogue, IMAGES_IF_ASKED, mem,
				    &spec, &missing, err);
	if (ret == 0) {
		spec.attempt = run->attempt;
		spec_set_folder(&spec, folder, mem);
		/* The container has its own command, and nothing is run
		 * here. */
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

int remote_run_add(const struct provider_env *env, const char *provider,
		   const struct job *job, const struct topology *tasks,
		   const char *digest, const char *digest2, const char *origin,
		   int64_t began_ms, const json_t *properties, char **folder,
		   struct error *err)
{
	char *text = json_canonical(properties);
	struct run_record run = {
		.job_id = job->job_id,
		.provider = provider,
		.digest = digest,
		.digest2 = digest2,
		.job_origin = origin,
		.job_file = origin_is_same(origin, job->origin) ? job->real_file
								: NULL,
		.revision = job_was_run(job, digest, digest2) ? job->revision
							      : NULL,
		.state = RUN_QUEUED,
		.create_time_ms = began_ms,
		.exit_code = -1,
		.properties = text
	};
	struct arena *mem = arena_new();
	int ret = store_run_add(env->store, &run, err);

	if (ret == 0)
		ret = write_spec(env, job, tasks, &run, mem, err);
	if (ret == 0 && folder)
		*folder = store_run_folder(env->store, run.job_id, run.attempt);
	arena_free(mem);
	free(text);
	return ret;
}

/* ---- trials ------------------------------------------------------------ */

static bool is_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static bool is_same(const struct trial_record *a, const struct trial_record *b)
{
	return a->state == b->state && a->step == b->step &&
	       a->early == b->early && a->start_time_ms == b->start_time_ms &&
	       a->end_time_ms == b->end_time_ms &&
	       (a->value == b->value || (isnan(a->value) && isnan(b->value))) &&
	       is_text(a->parameters, b->parameters) &&
	       is_text(a->error, b->error);
}

static const struct trial_record *find_trial(const struct trial_list *list,
					     int number)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (list->items[i].number == number)
			return &list->items[i];
	return NULL;
}

/* Makes the folder of a trial with a specification for reading its logs. */
static int make_folder(const struct run_spec *run, int number,
		       struct arena *mem, struct error *err)
{
	char *folder = trial_folder(run->folder, number);
	struct run_spec spec = *run;
	int ret = folder_make(folder, err);

	spec.topology.trial_id = arena_printf(mem, "%d", number);
	spec_set_folder(&spec, folder, mem);
	if (ret == 0)
		ret = spec_write(&spec, err);
	free(folder);
	return ret;
}

int remote_run_put_trial(const struct provider_env *env,
			 const struct run_record *run,
			 const struct run_spec *spec,
			 const struct trial_list *known,
			 const struct trial_record *trial, struct arena *mem,
			 struct error *err)
{
	const struct trial_record *was = find_trial(known, trial->number);

	if (was && is_same(was, trial))
		return 0;
	if (!was && make_folder(spec, trial->number, mem, err) < 0)
		return -1;
	return store_trial_put(env->store, run, trial, err);
}

/* ---- lists ------------------------------------------------------------- */

static const char *listed_key(const struct listed *one, struct arena *mem)
{
	return arena_printf(mem, "%s %s", one->name,
			    one->place ? one->place : "");
}

/* Returns the names and places in the listing; the value is new. */
static json_t *names_of(const struct listing *out, struct arena *mem)
{
	json_t *names = json_object();
	size_t i;

	for (i = 0; i < out->count; i++)
		json_object_set_new(names, listed_key(&out->items[i], mem),
				    json_true());
	return names;
}

int remote_run_list(const struct provider_env *env, const char *provider,
		    const struct kind *kind,
		    const char *(*place_of)(const json_t *properties,
					    struct arena *mem),
		    const char *place, struct listing *out, struct error *err)
{
	struct arena *mem = arena_new();
	json_t *names = NULL, *properties;
	struct run_list all = { 0 };
	size_t i;
	int ret = env->store ? store_run_list(env->store, false, mem, &all, err)
			     : 0;

	names = names_of(out, mem);
	for (i = 0; i < all.count; i++) {
		const struct run_record *run = &all.items[i];
		struct listed one = {
			.kind = kind,
			.name = run->job_id,
			.labels = { .job_id = run->job_id,
				    .digest = run->digest },
			.create_time_ms = run->create_time_ms,
			.live = !run_state_is_final(run->state),
			.succeeded = run->state == RUN_SUCCEEDED,
		};

		if (strcmp(run->provider, provider) != 0)
			continue;
		properties = remote_run_properties(run);
		one.place = place_of(properties, mem);
		one.where = json_get_text(properties, "where", NULL);
		if ((!place || !strcmp(place, one.place)) &&
		    !json_object_get(names, listed_key(&one, mem)))
			listing_add(out, &one);
		json_decref(properties);
	}
	json_decref(names);
	arena_free(mem);
	return ret;
}
