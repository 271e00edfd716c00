/* SPDX-License-Identifier: Apache-2.0 */
/* The local record of a managed run: its entry in the store, and the tasks in
 * the run's folder, which readers of logs need. */
#include "core/base/clock.h"
#include "providers/google/managed/managed_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/remote/remote_run.h"
#include "providers/google/google_labels.h"

/* Returns the name of the run at the service. */
static const char *name_in(const json_t *properties, struct arena *mem)
{
	return arena_strdup(mem, json_get_text(properties, "name", ""));
}

int managed_recorded(struct managed *managed, const char *job_id,
		     struct arena *mem, struct run_record *out,
		     const char **name, struct error *err)
{
	json_t *properties = NULL;
	int ret = remote_run_get(&managed->env, managed->as->provider, job_id,
				 mem, out, &properties, err);

	if (ret == 0)
		*name = name_in(properties, mem);
	json_decref(properties);
	return ret;
}

int managed_record(struct managed *managed, const struct job *job,
		   const char *name, const json_t *body, struct error *err)
{
	struct arena *mem = arena_new();
	struct run_record run;
	json_t *properties;
	const char *known;
	int ret =
		managed_recorded(managed, job->job_id, mem, &run, &known, err);

	if (ret == 1 || (ret == 0 && strcmp(known, name) != 0)) {
		properties = json_object();
		json_put_text(properties, "name", name);
		ret = remote_run_add(
			&managed->env, managed->as->provider, job, NULL,
			managed_digest(job, body),
			managed_label_of(body, MANAGED_LABEL_DIGEST_2),
			managed_label_of(body, GOOGLE_LABEL_ORIGIN), 0,
			properties, NULL, err);
		json_decref(properties);
	}
	arena_free(mem);
	return ret;
}

static bool is_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

/* Returns why the run is waiting: the state's message and the service's last
 * line. */
static const char *why_waiting(const struct managed_state *now,
			       const char *said, struct arena *mem)
{
	if (now->state != RUN_QUEUED && now->state != RUN_PREPARING)
		return now->waiting;
	if (!said)
		return now->waiting;
	if (!now->waiting)
		return arena_printf(mem, "the service says: %s", said);
	return arena_printf(mem, "%s; it says: %s", now->waiting, said);
}

/* Stores run and tasks at once, so that nobody sees an ended run with tasks
 * that have not ended. */
static int put_progress(struct managed *managed, struct run_record *run,
			const struct run_spec *spec, struct arena *mem,
			struct error *err)
{
	size_t count = spec->tuning.params.count ? 0 : spec->topology.count, i;
	struct task_record *tasks =
		arena_alloc(mem, (count + 1) * sizeof(*tasks));
	bool *changed = arena_alloc(mem, (count + 1) * sizeof(*changed));

	if (count)
		managed_tasks(&spec->topology, run->state, run->error, tasks,
			      &run->exit_code);
	for (i = 0; i < count; i++) {
		tasks[i].start_time_ms = run->start_time_ms;
		tasks[i].end_time_ms = run->end_time_ms;
		changed[i] = true;
	}
	return store_progress_put(managed->env.store, run, true, tasks, changed,
				  count, err);
}

int managed_update(struct managed *managed, struct run_record *run,
		   const json_t *body, const char *said, struct error *err)
{
	char *folder =
		store_run_folder(managed->env.store, run->job_id, run->attempt);
	struct arena *mem = arena_new();
	struct managed_state now = { 0 };
	struct run_spec spec;
	const char *text;
	int ret = spec_read(folder, mem, &spec, err);

	managed->as->read(body, mem, &now);
	text = run_state_is_final(now.state) || now.error
		       ? now.error
		       : why_waiting(&now, said, mem);
	if (ret == 0)
		ret = managed_trials(managed, run, &spec, body, err);
	if (ret == 0 &&
	    (now.state != run->state || !is_text(text, run->error) ||
	     run->start_time_ms != managed_time(body, "startTime"))) {
		run->state = now.state;
		run->error = text;
		run->start_time_ms = managed_time(body, "startTime");
		run->end_time_ms = managed_time(body, "endTime");
		if (run_state_is_final(now.state) && !run->end_time_ms)
			run->end_time_ms = time_now_ms();
		ret = put_progress(managed, run, &spec, mem, err);
	}
	run->error = NULL;
	arena_free(mem);
	free(folder);
	return ret;
}
