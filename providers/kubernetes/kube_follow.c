/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/kube_follow.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/remote/remote_run.h"
#include "core/log/log_cause.h"
#include "providers/kubernetes/companions.h"
#include "providers/kubernetes/kube_look.h"
#include "providers/kubernetes/overview.h"
#include "providers/kubernetes/reasons.h"
#include "providers/kubernetes/run.h"
#include "providers/kubernetes/kube_state.h"
#include "providers/kubernetes/success.h"
#include "providers/kubernetes/watch.h"
#include "providers/kubernetes/whereabouts.h"

#define SIGNAL_BASE 128
/* With more runs than this, the overview alone decides about waiting runs, as
 * the reason of each would take a look at it. */
#define FEW_RUNS 16

/* ---- tasks ------------------------------------------------------------- */

/* Writes how a task ended: "exited with 3". */
static void end_words(const struct pod_task *task, char *out, size_t size)
{
	char name[32];

	signal_format(task->exit_code - SIGNAL_BASE, name, sizeof(name));
	if (task->lost)
		snprintf(out, size, "lost its node%s%s%s%s%s",
			 *task->node ? " '" : "", task->node,
			 *task->node ? "'" : "", *task->lost_why ? ": " : "",
			 task->lost_why);
	else if (task->launcher_said)
		snprintf(out, size,
			 "was not started: the container of "
			 "jobrun.kubernetes.launcher exited with %d%s%s",
			 task->exit_code, *task->launcher_said ? ": " : "",
			 task->launcher_said);
	else if (task->starved)
		snprintf(out, size, "ran out of memory");
	else if (task->exit_code > SIGNAL_BASE &&
		 task->exit_code < SIGNAL_BASE + SIGRTMAX)
		snprintf(out, size, "was killed by %s", name);
	else
		snprintf(out, size, "exited with %d", task->exit_code);
}

const char *look_end_words(const struct kube_look *look,
			   const struct task_place *place,
			   const struct pod_task *task)
{
	char words[400];

	end_words(task, words, sizeof(words));
	return arena_printf(look->mem, "%s %d %s", task_type_name(place->type),
			    place->index, words);
}

/* Returns the task that failed first, or NULL. */
static const struct pod_task *culprit(const struct kube_look *look)
{
	const struct pod_task *first = NULL;
	size_t i;

	for (i = 0; i < look->pods.count && i < look->spec.topology.count;
	     i++) {
		const struct pod_task *one = &look->pods.tasks[i];

		if (one->pod && one->state == RUN_FAILED &&
		    (!first || one->end_ms < first->end_ms))
			first = one;
	}
	return first;
}

static const char *why_failed(const struct kube_look *look, int *exit_code)
{
	const struct pod_task *task = culprit(look);
	const char *why = why_child_failed(&look->at, look->object, look->mem);
	const struct task_place *place;
	struct buf cause = { 0 };

	/* A JobSet says no more than that a Job of it has failed. */
	if (!why)
		why = state_why(look->object, look->mem);

	/* A limit that was reached ends tasks which did nothing wrong. */
	if (!task || (why && text_starts(why, "it ran for longer")))
		return why;
	*exit_code = task->exit_code;
	place = &look->spec.topology.tasks[task - look->pods.tasks];
	why = look_end_words(look, place, task);
	if (!task->lost && !task->launcher_said && !task->starved)
		log_cause_of_task(look->folder, task_type_name(place->type),
				  place->index, &cause);
	if (cause.len)
		why = arena_printf(look->mem, "%s: %s", why, cause.data);
	buf_done(&cause);
	return why;
}

static void fill_task(const struct kube_look *look, size_t i,
		      struct task_record *out)
{
	const struct pod_task *pod = &look->pods.tasks[i];
	const struct task_place *place = &look->spec.topology.tasks[i];

	*out = (struct task_record){
		.type = task_type_name(place->type),
		.index = place->index,
		.state = pod->pod ? pod->state : RUN_QUEUED,
		.exit_code = pod->pod ? pod->exit_code : -1,
		.host = pod->pod && *pod->node ? pod->node : NULL,
		.start_time_ms = pod->start_ms,
		.end_time_ms = pod->end_ms,
	};
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

static bool is_changed(const struct task_list *known,
		       const struct task_record *now, size_t i)
{
	const struct task_record *was;

	if (i >= known->count)
		return true;
	was = &known->items[i];
	return was->state != now->state || was->exit_code != now->exit_code ||
	       !same_text(was->host, now->host);
}

/* Stores the state of the tasks.  Tasks whose pods are gone keep their last
 * known state; when the run is over, so are all its tasks. */
static int put_progress(const struct kube_look *look, bool with_run,
			struct error *err)
{
	struct store *store = look->kube->env.store;
	/* Tasks of trials are not tasks of the run. */
	size_t count = look_has_trials(look) ? 0 : look->spec.topology.count, i;
	struct task_record *tasks =
		arena_alloc(look->mem, (count + 1) * sizeof(*tasks));
	bool *changed = arena_alloc(look->mem, count + 1);
	struct task_list known;
	bool any = with_run;

	if (store_task_list(store, &look->record.run, look->mem, &known, err) <
	    0)
		return -1;
	for (i = 0; i < count; i++) {
		if (i < look->pods.count &&
		    (look->pods.tasks[i].pod || i >= known.count ||
		     state_is_suspended(look->object)))
			fill_task(look, i, &tasks[i]);
		else if (i < known.count)
			tasks[i] = known.items[i];
		if (run_state_is_final(look->record.run.state) &&
		    !run_state_is_final(tasks[i].state))
			tasks[i].state = RUN_CANCELLED;
		changed[i] = tasks[i].type && is_changed(&known, &tasks[i], i);
		any |= changed[i];
	}
	return any ? store_progress_put(store, &look->record.run, with_run,
					tasks, changed, i, err)
		   : 0;
}

/* ---- the run ----------------------------------------------------------- */

static int64_t first_start(const struct kube_look *look)
{
	int64_t first = 0;
	size_t i;

	for (i = 0; i < look->pods.count; i++)
		if (look->pods.tasks[i].start_ms &&
		    (!first || look->pods.tasks[i].start_ms < first))
			first = look->pods.tasks[i].start_ms;
	return first;
}

static bool has_running_pod(const struct kube_look *look)
{
	size_t i;

	for (i = 0; i < look->pods.count; i++)
		if (look->pods.tasks[i].pod &&
		    look->pods.tasks[i].state == RUN_RUNNING)
			return true;
	return false;
}

static enum run_state state_now(const struct kube_look *look)
{
	enum run_state state = state_of(look->object);
	size_t i;

	if (run_state_is_final(state) || state == RUN_CANCELLING)
		return state;
	if (has_running_pod(look))
		return RUN_RUNNING;
	/* Somebody else has suspended the object, and may resume it. */
	if (state_is_suspended(look->object))
		return RUN_QUEUED;
	/* The run is between two attempts, or before the first. */
	if (look->record.run.state == RUN_RUNNING)
		return RUN_RUNNING;
	for (i = 0; i < look->pods.count; i++)
		if (look->pods.tasks[i].pod &&
		    look->pods.tasks[i].state != RUN_QUEUED)
			return RUN_PREPARING;
	return RUN_QUEUED;
}

/* Takes what is new into the record; returns true if anything is. */
static bool update_run(struct kube_look *look, enum run_state state,
		       const char *error, int exit_code)
{
	struct run_record *run = &look->record.run;
	int64_t start_ms = first_start(look);

	if (!start_ms || run->start_time_ms)
		start_ms = run->start_time_ms;
	if (state == run->state && same_text(error, run->error) &&
	    start_ms == run->start_time_ms)
		return false;
	run->state = state;
	run->error = error;
	run->start_time_ms = start_ms;
	run->exit_code = exit_code;
	if (run_state_is_final(state))
		run->end_time_ms = look->object ? state_end_ms(look->object)
						: time_now_ms();
	return true;
}

/* Returns whether the logs are complete. */
static bool collect_logs(struct kube_look *look, bool ended)
{
	return look->kube->env.only_states ||
	       pod_log_collect(look->kube, &look->at, look->folder, &look->pods,
			       look->follow, ended);
}

/* The object is not there: it was asked to go, or its ttl has passed, or
 * somebody took it. */
static int take_gone(struct kube_look *look, struct error *err)
{
	const char *why =
		arena_printf(look->mem, "somebody deleted %s '%s'",
			     look->record.type->kind, look->record.name);
	bool asked = look->record.run.state == RUN_CANCELLING;
	int known = 0;

	if (!look->sure)
		return error_set(err, ERROR_FAILED,
				 "'%s' was not found as '%s' by '%s': that is "
				 "no end of it; it is in %s, started as '%s'",
				 look->record.name,
				 apiserver_identity(look->at.api)->user,
				 apiserver_server(look->at.api),
				 look->record.where, look->record.user);
	if (look_has_trials(look) && look_cancel_trials(look, err) < 0)
		return -1;
	/* Take what the streams have received from its pods. */
	collect_logs(look, true);
	if (!asked)
		known = success_is_known(&look->at, look->record.run.job_id,
					 look->record.name, look->record.uid,
					 look->record.run.digest, err);
	if (known < 0)
		return -1;
	if (known)
		update_run(look, RUN_SUCCEEDED, NULL, 0);
	else
		update_run(look, asked ? RUN_CANCELLED : RUN_FAILED,
			   asked ? NULL : why, -1);
	return put_progress(look, true, err);
}

/* Returns why a run is not over yet. */
static const char *why_not_yet(const struct kube_look *look,
			       enum run_state state)
{
	long long n = state_restarts(look->object);
	const char *why = NULL;

	if (state == RUN_CANCELLING)
		return NULL;
	if (look->pods.waiting)
		return look->pods.waiting;
	if (!has_running_pod(look))
		why = why_waiting(&look->at, look->object, &look->pods,
				  look->mem);
	if (!why && n > 0)
		why = arena_printf(look->mem, "restarted %lld time%s", n,
				   n == 1 ? "" : "s");
	return why;
}

/* Stores the state of a run that goes on before reading logs, so that a node
 * that hangs delays nothing else. */
static int put_going(struct kube_look *look, enum run_state state,
		     struct error *err)
{
	bool changed = update_run(look, state, why_not_yet(look, state), -1);
	int ret = put_progress(look, changed, err);

	if (ret == 0)
		collect_logs(look, false);
	if (ret == 0 && look_has_trials(look))
		ret = look_put_trials(look, err);
	return ret;
}

static int take_object(struct kube_look *look, struct error *err)
{
	enum run_state state;
	const char *why = NULL;
	int exit_code = -1;
	bool whole;

	pods_pools(look->object, &look->job);
	if (pods_read(&look->at, look->record.name, &look->job, &look->pods,
		      err) < 0)
		return -1;
	if (look_has_trials(look) && look_begin_trials(look, err) < 0)
		return -1;
	state = state_now(look);
	if (!run_state_is_final(state))
		return put_going(look, state, err);
	whole = collect_logs(look, true);
	if (look_has_trials(look) &&
	    (look_put_trials(look, err) < 0 ||
	     look_judge_trials(look, &state, &why, err) < 0))
		return -1;
	if (look_has_trials(look) && state == RUN_FAILED)
		exit_code = 1;
	else if (state == RUN_FAILED)
		why = why_failed(look, &exit_code);
	else if (state == RUN_SUCCEEDED)
		exit_code = 0;
	if (state == RUN_SUCCEEDED && !look->kube->env.visits)
		success_put(&look->at, look->object);
	/* The state of a run that has ended is written when its log is
	 * whole. */
	if (!whole)
		return put_progress(look, false, err);
	return put_progress(look, update_run(look, state, why, exit_code), err);
}

static int look_once(struct kube_look *look, struct error *err)
{
	const char *uid = look->record.uid;
	struct error ignored;
	int ret = object_get(&look->at, look->record.type, look->record.name,
			     &look->object, err);

	if (ret < 0)
		return -1;
	if (spec_read(look->folder, look->mem, &look->spec, err) < 0)
		return -1;
	/* Another object with that name is not this run. */
	if (ret == 1 || (*uid && strcmp(uid, object_meta(look->object, "uid"))))
		return take_gone(look, err);
	ret = take_object(look, err);
	/* A start that was interrupted may have left objects without an owner.
	 * The run goes on where they can't be changed. */
	if (!look->kube->env.visits)
		companions_own(&look->at, look->object, look->folder, &ignored);
	return ret;
}

int kube_wait(void *ctx, const struct resource *have, enum wait_state *state,
	      struct error *err)
{
	struct kube *kube = ctx;
	struct kube_look look = { .kube = kube, .mem = arena_new() };
	int ret = record_get(kube, have->name, look.mem, &look.record, err);

	if (ret == 1 && run_is_unknown(have)) {
		arena_free(look.mem);
		return run_wait_unknown(kube, have, state, err);
	}
	if (ret == 1)
		ret = error_set(err, ERROR_FAILED, "the run is gone");
	else if (ret == 0 && !run_state_is_final(look.record.run.state))
		ret = whereabouts_find(kube, &look.record, &look.at, &look.sure,
				       err);
	if (ret == 0 && !run_state_is_final(look.record.run.state)) {
		look.follow = watch_keep(kube, &look.at, look.record.type,
					 look.record.name);
		look.folder = store_run_folder(kube->env.store,
					       look.record.run.job_id,
					       look.record.run.attempt);
		ret = look_once(&look, err);
	}
	if (ret == 0 && look.at.api &&
	    run_state_is_final(look.record.run.state))
		watch_end(kube, &look.at, look.record.type, look.record.name);
	if (ret == 0)
		*state = run_state_is_final(look.record.run.state)
				 ? WAIT_DONE
				 : WAIT_PENDING;
	json_decref(look.object);
	pods_done(&look.pods);
	free(look.folder);
	arena_free(look.mem);
	return ret;
}

static bool waits(const struct run_record *run)
{
	return run->state == RUN_QUEUED || run->state == RUN_PREPARING;
}

static bool is_unchanged(void *ctx, const struct run_record *run)
{
	json_t *properties = remote_run_properties(run);
	struct arena *mem = arena_new();
	struct kube_record record;
	struct kube_at at;
	struct error ignored;
	bool same;

	record_take(&record, run, properties, mem);
	/* Trials begin and end while the run's own state stays the same. */
	same = !record.trials &&
	       whereabouts_find(ctx, &record, &at, NULL, &ignored) == 0 &&
	       overview_is_enough(ctx, &at, &record);
	json_decref(properties);
	arena_free(mem);
	return same;
}

void kube_refresh(void *ctx, struct run_record *const *runs, size_t count,
		  struct arena *mem, bool *fresh)
{
	size_t i;

	(void)mem; /* every run is looked at, so needs none */
	for (i = 0; i < count; i++)
		fresh[i] = (count > FEW_RUNS || !waits(runs[i])) &&
			   is_unchanged(ctx, runs[i]);
}

int kube_watch(void *ctx, const struct resource *have, int *fd,
	       struct error *err)
{
	struct kube *kube = ctx;
	struct arena *mem = arena_new();
	struct kube_record record;
	struct kube_at at;
	int ret = record_get(kube, have->name, mem, &record, err);

	if (ret == 1)
		ret = error_set(err, ERROR_FAILED, "the run is gone");
	if (ret == 0)
		ret = whereabouts_find(kube, &record, &at, NULL, err);
	if (ret == 0)
		ret = watch_open(kube, &at, record.type, record.name, fd, err);
	arena_free(mem);
	return ret;
}
