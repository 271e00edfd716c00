/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine remembers of a managed run: its record in the store, and
 * in the run's folder who its tasks are, which is what logs are read by. */
#include "providers/google/managed_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/run/spec.h"

/* {"name": …}: what the record's properties are for such a run. */
static const char *name_in(const struct run_record *run, struct arena *mem)
{
	struct error ignored;
	json_t *value = run->properties ? json_read(run->properties,
						    strlen(run->properties),
						    "store", &ignored)
					: NULL;
	const char *out = arena_strdup(mem, json_get_text(value, "name", ""));

	json_decref(value);
	return out;
}

int managed_recorded(struct managed *managed, const char *job_id,
		     struct arena *mem, struct run_record *out,
		     const char **name, struct error *err)
{
	int ret;

	if (!managed->env.store)
		return 1;
	ret = store_run_get(managed->env.store, job_id, 0, mem, out, err);
	if (ret != 0)
		return ret;
	if (strcmp(out->provider, managed->as->provider) != 0)
		return 1;
	*name = name_in(out, mem);
	return 0;
}

static int write_spec(struct managed *managed, const struct job *job,
		      const struct run_record *run, struct arena *mem,
		      struct error *err)
{
	char *folder =
		store_run_folder(managed->env.store, run->job_id, run->attempt);
	struct run_spec spec;
	const char *missing;
	int ret = spec_from_job(job, managed->env.catalogue, mem, &spec,
				&missing, err);

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

int managed_record(struct managed *managed, const struct job *job,
		   const char *name, const json_t *body, struct error *err)
{
	struct arena *mem = arena_new();
	json_t *properties = json_object();
	struct run_record run;
	const char *known;
	char *text = NULL;
	int ret =
		managed_recorded(managed, job->job_id, mem, &run, &known, err);

	if (ret < 0 || (ret == 0 && !strcmp(known, name)))
		goto out;
	json_put_text(properties, "name", name);
	text = json_canonical(properties);
	run = (struct run_record){ .job_id = job->job_id,
				   .provider = managed->as->provider,
				   .digest = managed_digest(job, body),
				   .state = RUN_QUEUED,
				   .exit_code = -1,
				   .properties = text };
	ret = store_run_add(managed->env.store, &run, err);
	if (ret == 0)
		ret = write_spec(managed, job, &run, mem, err);
out:
	free(text);
	json_decref(properties);
	arena_free(mem);
	return ret;
}

static int64_t time_of(const json_t *body, const char *key)
{
	int64_t ms = time_parse(json_get_text(body, key, ""));

	return ms < 0 ? 0 : ms;
}

static bool is_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

int managed_update(struct managed *managed, struct run_record *run,
		   const json_t *body, struct error *err)
{
	struct arena *mem = arena_new();
	struct managed_state now = { 0 };
	const char *text;
	int ret = 0;

	managed->as->read(body, mem, &now);
	text = run_state_is_final(now.state) || now.error ? now.error
							  : now.waiting;
	if (now.state != run->state || !is_text(text, run->error) ||
	    run->start_time_ms != time_of(body, "startTime")) {
		run->state = now.state;
		run->error = text;
		run->start_time_ms = time_of(body, "startTime");
		run->end_time_ms = time_of(body, "endTime");
		ret = store_run_put(managed->env.store, run, err);
	}
	run->error = NULL;
	arena_free(mem);
	return ret;
}

int managed_list(void *ctx, const char *place, struct listing *out,
		 struct error *err)
{
	struct managed *managed = ctx;
	struct arena *mem = arena_new();
	struct run_list all;
	size_t i;
	int ret = store_run_list(managed->env.store, false, mem, &all, err);

	(void)place;
	for (i = 0; ret == 0 && i < all.count; i++) {
		const struct run_record *run = &all.items[i];
		struct listed one = {
			.kind = managed->as->kind,
			.name = run->job_id,
			.labels = { .job_id = run->job_id,
				    .digest = run->digest },
			.create_time_ms = run->create_time_ms,
			.live = !run_state_is_final(run->state),
			.succeeded = run->state == RUN_SUCCEEDED,
		};

		if (!strcmp(run->provider, managed->as->provider))
			listing_add(out, &one);
	}
	arena_free(mem);
	return ret;
}
