/* SPDX-License-Identifier: Apache-2.0 */
/* A managed run after its start: waiting, cancelling, forgetting. */
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "providers/google/managed/managed_internal.h"

/*
 * Finds the run and its name at the service.  A run without a record here is
 * searched where it was listed, and has no attempt.  Returns 1 if there is
 * none.
 */
static int locate(struct managed *managed, const struct resource *have,
		  struct arena *mem, struct run_record *run, const char **name,
		  struct error *err)
{
	struct managed_runs runs = { 0 };
	struct managed_state now = { 0 };
	const json_t *body;
	int ret = managed_recorded(managed, have->name, mem, run, name, err);

	if (ret != 1 || !have->place)
		return ret;
	if (managed_find(managed, have->place, have->name, &runs, err) < 0)
		return -1;
	body = managed_newest(&runs);
	if (body) {
		managed->as->read(body, mem, &now);
		*run = (struct run_record){ .job_id = have->name,
					    .state = now.state };
		*name = managed_name(managed, have->place, body, mem);
	}
	managed_runs_done(&runs);
	return body ? 0 : 1;
}

/* Takes the new state.  The final state is written only when the log is
 * complete. */
static int take_state(struct managed *managed, struct run_record *run,
		      const char *name, const json_t *body, struct arena *mem,
		      struct error *err)
{
	struct managed_state now = { 0 };
	const char *said;
	bool ended, whole;

	managed->as->read(body, mem, &now);
	ended = run_state_is_final(now.state);
	if (!run->attempt) {
		run->state = now.state; /* this machine has no record of it */
		return 0;
	}
	whole = managed_log_collect(
		managed, run, name, ended,
		time_parse(json_get_text(body, "endTime", "")), mem, &said);
	return ended && !whole ? 0
			       : managed_update(managed, run, body, said, err);
}

int managed_wait(void *ctx, const struct resource *have, enum wait_state *state,
		 struct error *err)
{
	struct managed *managed = ctx;
	struct arena *mem = arena_new();
	struct api_answer answer = { 0 };
	struct run_record run;
	const char *name;
	int ret = locate(managed, have, mem, &run, &name, err);

	if (ret == 1)
		ret = error_set(err, ERROR_FAILED, "the run is gone");
	else if (ret == 0 && !run_state_is_final(run.state))
		answer.body = managed_look_shared(managed, name);
	if (ret == 0 && !answer.body && !run_state_is_final(run.state))
		ret = managed_call(managed, "GET", name, "", NULL, NULL,
				   &answer, err);
	if (ret < 0 && answer.status == 404)
		error_set(err, ERROR_FAILED,
			  "'%s' is gone: somebody deleted it", name);
	if (ret == 0 && answer.body)
		ret = take_state(managed, &run, name, answer.body, mem, err);
	if (ret == 0)
		*state = run_state_is_final(run.state) ? WAIT_DONE
						       : WAIT_PENDING;
	/* Whoever asks next wants to see that. */
	if (ret == 0 && *state == WAIT_DONE)
		managed_forget(managed);
	api_answer_done(&answer);
	arena_free(mem);
	return ret;
}

/* Whether the run has ended, which makes ending it a success, whatever the
 * service answers. */
static int ended_already(struct managed *managed, const char *name,
			 struct arena *mem)
{
	struct managed_state now = { 0 };
	struct api_answer answer = { 0 };
	struct error ignored;
	int ret = managed_call(managed, "GET", name, "", NULL, NULL, &answer,
			       &ignored);

	if (ret == 0)
		managed->as->read(answer.body, mem, &now);
	api_answer_done(&answer);
	return ret == 0 &&
	       (run_state_is_final(now.state) || now.state == RUN_CANCELLING);
}

int managed_end(struct managed *managed, const char *name, struct arena *mem,
		struct error *err)
{
	struct api_answer answer = { 0 };
	json_t *body = json_object();
	int ret = managed_call(managed, "POST", name, ":cancel", NULL, body,
			       &answer, err);

	if (ret < 0 && answer.status / 100 == 4 &&
	    ended_already(managed, name, mem))
		ret = 0;
	json_decref(body);
	api_answer_done(&answer);
	return ret;
}

/* Ends all runs with the job's label, as a twin costs just as much. */
static int end_all(struct managed *managed, const char *parent,
		   const char *job_id, const char *but, struct arena *mem,
		   struct error *err)
{
	struct managed_runs runs = { 0 };
	json_t *body;
	size_t i;
	int ret = managed_find(managed, parent, job_id, &runs, err);

	json_array_foreach(runs.ours, i, body)
	{
		struct managed_state now = { 0 };
		const char *name = managed_name(managed, parent, body, mem);

		managed->as->read(body, mem, &now);
		if (ret == 0 && !run_state_is_final(now.state) &&
		    now.state != RUN_CANCELLING && strcmp(name, but) != 0)
			ret = managed_end(managed, name, mem, err);
	}
	managed_runs_done(&runs);
	return ret;
}

/* The service has only one way to end a run, so `now` has no effect. */
int managed_cancel(void *ctx, const struct resource *have, bool now,
		   struct error *err)
{
	struct managed *managed = ctx;
	struct arena *mem = arena_new();
	struct run_record run;
	const char *name;
	int ret = locate(managed, have, mem, &run, &name, err);

	(void)now;
	managed_forget(managed);
	if (ret == 0 && !run_state_is_final(run.state))
		ret = managed_end(managed, name, mem, err);
	/* If the service chooses names, there may be several runs. */
	if (ret == 0 && !managed->as->name_field)
		ret = end_all(managed, managed_parent_of(name, mem), have->name,
			      name, mem, err);
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}

/* Forgets all runs of a job, so that none of them is found again. */
static int forget_all(struct managed *managed, const char *job_id,
		      const char *name, struct arena *mem, struct error *err)
{
	const char *parent = managed_parent_of(name, mem);
	struct managed_runs runs = { 0 };
	json_t *body;
	size_t i;
	int ret = managed_find(managed, parent, job_id, &runs, err);

	json_array_foreach(runs.ours, i, body)
	{
		struct managed_state now = { 0 };

		managed->as->read(body, mem, &now);
		if (ret == 0 && !run_state_is_final(now.state))
			ret = error_set(err, ERROR_TRY_AGAIN,
					"still running; 'jobrun cancel %s' "
					"stops it",
					job_id);
		if (ret == 0)
			ret = managed->as->forget(
				managed,
				managed_name(managed, parent, body, mem), body,
				err);
	}
	managed_runs_done(&runs);
	return ret;
}

/* Forgets the recorded attempts, one after the other; returns 1 if there were
 * none. */
static int forget_recorded(struct managed *managed, const char *job_id,
			   struct arena *mem, struct error *err)
{
	struct run_record run;
	const char *name;
	int ret, found = 1;

	for (;;) {
		ret = managed_recorded(managed, job_id, mem, &run, &name, err);
		if (ret == 0)
			ret = forget_all(managed, job_id, name, mem, err);
		if (ret == 0)
			ret = store_run_delete(managed->env.store, &run, err);
		if (ret != 0)
			return ret < 0 ? -1 : found;
		found = 0;
	}
}

int managed_delete(void *ctx, const struct resource *have, struct error *err)
{
	struct managed *managed = ctx;
	struct arena *mem = arena_new();
	struct run_record run;
	const char *name;
	int ret;

	managed_forget(managed);
	ret = forget_recorded(managed, have->name, mem, err);
	if (ret == 1)
		ret = locate(managed, have, mem, &run, &name, err);
	else if (ret == 0)
		ret = 1;
	if (ret == 0)
		ret = forget_all(managed, have->name, name, mem, err);
	arena_free(mem);
	return ret < 0 ? -1 : 0;
}
