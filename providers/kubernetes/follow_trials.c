/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the trials of a run.  The Job lists the ended ones by index, also
 * when their pods are gone; the newest pod shows the state of a running one;
 * the log has the result.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "providers/kubernetes/kube_internal.h"
#include "providers/kubernetes/manifest/launch_trial.h"
#include "core/remote/remote_run.h"
#include "core/trial/trial_tally.h"
#include "core/trial/trial_result.h"
#include "core/trial/trial_folder.h"
#include "providers/kubernetes/kube_look.h"
#include "providers/kubernetes/kube_state.h"
#include "providers/kubernetes/manifest/kube_trials.h"

/* The state of all trials in one look. */
struct trials_view {
	struct kube_look *look;
	struct trial_list known;
	json_t *values; /* the values being tried, from the object; or NULL */
	const char *completed, *failed; /* indexes: "0,3-5" */
	bool over;                      /* the Job is over */
	bool logs;                      /* the logs were read in this look */
};

bool look_has_trials(const struct kube_look *look)
{
	return look->spec.tuning.params.count;
}

/* Whether an index is in "0,3-5". */
static bool is_in(const char *indexes, long index)
{
	const char *p = indexes;
	char *end;

	while (*p) {
		long from = strtol(p, &end, 10);
		long to = *end == '-' ? strtol(end + 1, &end, 10) : from;

		if (end == p || (*end && *end != ','))
			return false;
		if (index >= from && index <= to)
			return true;
		p = *end ? end + 1 : end;
	}
	return false;
}

static int open_sight(struct trials_view *s, struct kube_look *look, bool logs,
		      struct error *err)
{
	const json_t *status = json_object_get(look->object, "status");

	*s = (struct trials_view){ .look = look, .logs = logs };
	if (store_trial_list(look->kube->env.store, &look->record.run,
			     look->mem, &s->known, err) < 0)
		return -1;
	s->completed = json_get_text(status, "completedIndexes", "");
	s->failed = json_get_text(status, "failedIndexes", "");
	s->over = run_state_is_final(state_of(look->object));
	s->values = trials_of_object(look->object);
	return 0;
}

static const struct trial_record *find_known(const struct trials_view *s,
					     int number)
{
	for (size_t i = 0; i < s->known.count; i++)
		if (s->known.items[i].number == number)
			return &s->known.items[i];
	return NULL;
}

/* ---- how one stands ---------------------------------------------------- */

/* Returns the state of a trial.  After a pod that has ended comes another,
 * until the Job says that the index has ended. */
static enum run_state state_of_trial(const struct trials_view *s, long index,
				     const struct pod_task *pod)
{
	if (is_in(s->completed, index))
		return RUN_SUCCEEDED;
	if (is_in(s->failed, index))
		return RUN_FAILED;
	if (s->over)
		return pod->pod && pod->state == RUN_SUCCEEDED ? RUN_SUCCEEDED
							       : RUN_CANCELLED;
	if (pod->state == RUN_FAILED)
		return RUN_QUEUED;
	return pod->state == RUN_SUCCEEDED ? RUN_RUNNING : pod->state;
}

/* Whether the log has all output of the trial's pods. */
static bool log_is_whole(const struct trials_view *s, size_t index)
{
	const struct pods *pods = &s->look->pods;

	for (size_t i = 0; i < pods->source_count; i++)
		if (pods->sources[i].task == index && !pods->sources[i].whole)
			return false;
	return s->logs;
}

static const char *parameters_of(const struct trials_view *s, int number)
{
	json_t *map = launch_trials_values(s->values, number);
	char *text = map ? json_dumps(map, JSON_COMPACT) : NULL;
	const char *out = arena_strdup(s->look->mem, text ? text : "{}");

	free(text);
	json_decref(map);
	return out;
}

static int read_result(const struct trials_view *s, struct trial_record *trial,
		       struct error *err)
{
	struct kube_look *look = s->look;
	char *folder = trial_logs_folder(look->folder, trial->number);
	struct trial_reader *reader = NULL;
	struct trial_series series = { 0 };
	struct run_spec spec;
	int ret = spec_read(folder, look->mem, &spec, err);

	if (ret == 0) {
		reader = trial_reader_new(&spec, look->spec.tuning.metric_tag,
					  err);
		ret = reader ? trial_reader_read(reader, true, &series, err)
			     : -1;
	}
	if (ret == 0)
		trial_record_judge(trial, &series);
	trial_series_done(&series);
	trial_reader_free(reader);
	free(folder);
	return ret;
}

static int set_end(const struct trials_view *s, const struct pod_task *pod,
		   struct trial_record *trial, struct error *err)
{
	int64_t end_ms = state_end_ms(s->look->object);

	trial->end_time_ms = pod->end_ms ? pod->end_ms
			     : end_ms    ? end_ms
					 : time_now_ms();
	trial->exit_code = pod->pod                        ? pod->exit_code
			   : trial->state == RUN_SUCCEEDED ? 0
							   : -1;
	if (trial->state == RUN_FAILED)
		trial->error =
			!pod->pod ? "its pod is gone"
				  : look_end_words(s->look,
						   s->look->spec.topology.tasks,
						   pod);
	return read_result(s, trial, err);
}

/* Sets the state of a trial that has not ended, or whose log is not complete
 * yet. */
static void set_progress(const struct trials_view *s,
			 const struct pod_task *pod, struct trial_record *trial)
{
	if (run_state_is_final(trial->state))
		trial->state = RUN_RUNNING;
	if (trial->state == RUN_QUEUED && pod->state == RUN_FAILED)
		trial->error = arena_printf(
			s->look->mem, "%s; it is started again",
			look_end_words(s->look, s->look->spec.topology.tasks,
				       pod));
}

static int put_one(const struct trials_view *s, size_t index, struct error *err)
{
	struct kube_look *look = s->look;
	const struct pod_task *pod = &look->pods.tasks[index];
	const struct trial_record *was = find_known(s, (int)index + 1);
	struct trial_record trial = {
		.number = (int)index + 1,
		.state = state_of_trial(s, (long)index, pod),
		.value = NAN,
		.step = -1,
		.exit_code = -1,
	};

	if (was && run_state_is_final(was->state))
		return 0;
	/* The trial has not begun, and maybe never will. */
	if (!was && !pod->pod && trial.state != RUN_SUCCEEDED &&
	    trial.state != RUN_FAILED)
		return 0;
	trial.parameters =
		was ? was->parameters : parameters_of(s, trial.number);
	trial.start_time_ms =
		was && was->start_time_ms ? was->start_time_ms : pod->start_ms;
	/* A trial's log can be read only once its first record is stored. */
	if (!was || !run_state_is_final(trial.state) || !log_is_whole(s, index))
		set_progress(s, pod, &trial);
	else if (set_end(s, pod, &trial, err) < 0)
		return error_prefix(err, "trial %d", trial.number);
	return remote_run_put_trial(&look->kube->env, &look->record.run,
				    &look->spec, &s->known, &trial, look->mem,
				    err);
}

static int put_all(struct kube_look *look, bool logs, struct error *err)
{
	struct trials_view s;
	int ret = open_sight(&s, look, logs, err);

	for (size_t i = 0; ret == 0 && i < look->pods.count; i++)
		ret = put_one(&s, i, err);
	json_decref(s.values);
	return ret;
}

int look_begin_trials(struct kube_look *look, struct error *err)
{
	return put_all(look, false, err);
}

int look_put_trials(struct kube_look *look, struct error *err)
{
	return put_all(look, true, err);
}

int look_cancel_trials(struct kube_look *look, struct error *err)
{
	struct store *store = look->kube->env.store;
	struct trial_list known;
	int ret = store_trial_list(store, &look->record.run, look->mem, &known,
				   err);

	for (size_t i = 0; ret == 0 && i < known.count; i++) {
		struct trial_record *trial = &known.items[i];

		if (run_state_is_final(trial->state))
			continue;
		trial->state = RUN_CANCELLED;
		trial->end_time_ms = time_now_ms();
		trial->error = NULL;
		ret = store_trial_put(store, &look->record.run, trial, err);
	}
	return ret;
}

/* ---- the run ----------------------------------------------------------- */

int look_judge_trials(struct kube_look *look, enum run_state *state,
		      const char **why, struct error *err)
{
	struct trial_tally tally = { 0 };
	struct trial_list known;
	char text[600];

	if (store_trial_list(look->kube->env.store, &look->record.run,
			     look->mem, &known, err) < 0)
		return -1;
	for (size_t i = 0; i < known.count; i++)
		trial_tally_add(&tally, &known.items[i]);
	*state = RUN_FAILED;
	if (state_has_failed_trials(look->object) && tally.failed) {
		*why = arena_printf(look->mem,
				    "%ld trial%s failed (maxFailedTrials); "
				    "trial %d: %s",
				    tally.failed, tally.failed > 1 ? "s" : "",
				    tally.last, tally.last_error);
		return 0;
	}
	if (state_of(look->object) == RUN_FAILED &&
	    !state_ran_all_trials(look->object)) {
		*why = state_why(look->object, look->mem);
		return 0;
	}
	*state = trial_tally_verdict(&tally, &look->spec.tuning, text,
				     sizeof(text));
	*why = *state == RUN_FAILED ? arena_strdup(look->mem, text) : NULL;
	return 0;
}
