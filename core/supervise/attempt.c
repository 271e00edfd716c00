/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/attempt.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/log/log_cause.h"
#include "core/process/process.h"

/* The grace of the other tasks when one fails: they must end within a
 * second. */
#define FAILURE_GRACE_MS 700
/* How long workers may take to end by themselves after the master. */
#define SETTLE_MS 1000

enum ending {
	ENDING_NONE,
	ENDING_SUCCESS, /* the master ended well */
	ENDING_FAILURE,
	ENDING_CANCEL, /* by request, or out of time */
};

struct attempt {
	struct attempt_deps deps;
	const struct attempt_hooks *hooks;
	void *arg;
	size_t count;   /* number of tasks */
	size_t started; /* number that ever started */
	size_t alive;
	bool preparing;
	bool finishing;
	enum run_state state;
	enum ending ending;
	enum attempt_cause cause;
	const struct task_record *culprit; /* its last output tells why */
	char why[400];
	bool *told; /* by task: we sent it SIGTERM */
	struct loop_event *kill_timer;
	struct loop_event *settle_timer;
	struct loop_event *limit_timer;
};

static void set_state(struct attempt *a, enum run_state state)
{
	a->state = state;
	a->hooks->state_changed(a->arg);
}

/* Reports the state last, since storing it may take time. */
static void set_task_state(struct attempt *a, size_t i, enum run_state state)
{
	a->deps.tasks[i].state = state;
	a->hooks->task_changed(a->arg, i);
}

static void drop_timer(struct attempt *a, struct loop_event **timer)
{
	loop_remove(a->deps.loop, *timer);
	*timer = NULL;
}

static void finish_if_done(struct attempt *a)
{
	if (a->alive || a->preparing || a->finishing ||
	    a->ending == ENDING_NONE)
		return;
	a->finishing = true;
	drop_timer(a, &a->kill_timer);
	drop_timer(a, &a->settle_timer);
	drop_timer(a, &a->limit_timer);
	a->deps.backend->grace_ms =
		a->ending == ENDING_CANCEL ? a->deps.spec->grace_s * 1000 : -1;
	a->deps.backend->ops->finish(a->deps.backend);
}

static void kill_all(void *arg, uint32_t events)
{
	struct attempt *a = arg;

	(void)events;
	a->kill_timer = NULL;
	a->deps.backend->ops->signal(a->deps.backend, BACKEND_ALL, SIGKILL);
}

static void terminate_all(struct attempt *a, int64_t grace_ms)
{
	memset(a->told, true, a->count * sizeof(*a->told));
	drop_timer(a, &a->kill_timer);
	a->kill_timer = loop_add_timer(a->deps.loop, grace_ms, kill_all, a);
	a->deps.backend->ops->signal(a->deps.backend, BACKEND_ALL, SIGTERM);
}

static void settled(void *arg, uint32_t events)
{
	struct attempt *a = arg;

	(void)events;
	a->settle_timer = NULL;
	if (a->ending == ENDING_SUCCESS && a->alive)
		terminate_all(a, a->deps.spec->grace_s * 1000);
}

/* Ends the parameter servers, which never end by themselves. */
static void terminate_servers(struct attempt *a)
{
	const struct topology *all = &a->deps.spec->topology;

	for (size_t i = 0; i < a->count; i++) {
		if (all->tasks[i].type != TASK_PS)
			continue;
		a->told[i] = true;
		a->deps.backend->ops->signal(a->deps.backend, i, SIGTERM);
	}
}

/* Begins the end.  The first reason counts, except that a user's cancel
 * overrides success. */
static void end(struct attempt *a, enum ending ending, enum attempt_cause cause,
		const char *why)
{
	int64_t grace_ms = a->deps.spec->grace_s * 1000;

	if (a->ending != ENDING_NONE &&
	    !(a->ending == ENDING_SUCCESS && ending == ENDING_CANCEL))
		return;
	a->ending = ending;
	a->cause = cause;
	snprintf(a->why, sizeof(a->why), "%s", why);
	if (ending == ENDING_SUCCESS) {
		terminate_servers(a);
		a->settle_timer =
			loop_add_timer(a->deps.loop, SETTLE_MS, settled, a);
	} else if (ending == ENDING_FAILURE) {
		terminate_all(a, grace_ms < FAILURE_GRACE_MS
					 ? grace_ms
					 : FAILURE_GRACE_MS);
	} else {
		a->state = RUN_CANCELLING;
		terminate_all(a, grace_ms);
		/* If no task had begun, the attempt is already over. */
		if (a->state == RUN_CANCELLING)
			a->hooks->state_changed(a->arg);
	}
	finish_if_done(a);
}

static void out_of_time(void *arg, uint32_t events)
{
	struct attempt *a = arg;
	char why[160];

	(void)events;
	a->limit_timer = NULL;
	/* An attempt that is ending already needs no limit. */
	if (a->ending != ENDING_NONE)
		return;
	spec_limit_text(a->deps.spec, why, sizeof(why));
	end(a, ENDING_CANCEL, OUTCOME_CANCEL, why);
}

static void on_not_prepared(void *arg, size_t ordinal, enum attempt_cause cause,
			    const char *why)
{
	struct attempt *a = arg;

	a->preparing = false;
	if (a->ending != ENDING_NONE) {
		finish_if_done(a);
		return;
	}
	a->culprit = &a->deps.tasks[ordinal];
	end(a, ENDING_FAILURE, cause, why);
}

static void on_prepared(void *arg, size_t ordinal, const char *why)
{
	struct attempt *a = arg;

	if (why) {
		on_not_prepared(a, ordinal, OUTCOME_OTHER, why);
		return;
	}
	a->preparing = false;
	if (a->ending != ENDING_NONE)
		finish_if_done(a);
	else
		a->deps.backend->ops->start(a->deps.backend);
}

/* Once: when all tasks have started, or the first has ended. */
static void set_running(struct attempt *a)
{
	if (a->ending == ENDING_NONE && a->state != RUN_RUNNING)
		set_state(a, RUN_RUNNING);
}

static void on_task_started(void *arg, size_t ordinal, int64_t pid)
{
	struct attempt *a = arg;
	struct task_record *task = &a->deps.tasks[ordinal];

	a->alive++;
	a->started++;
	task->pid = pid;
	task->start_time_ms = time_now_ms();
	set_task_state(a, ordinal, RUN_RUNNING);
	/* A task that started late did not get the first signal. */
	if (a->told[ordinal])
		a->deps.backend->ops->signal(a->deps.backend, ordinal, SIGTERM);
	if (a->started < a->count || a->ending != ENDING_NONE)
		return;
	set_running(a);
	if (a->deps.max_running_ms)
		a->limit_timer = loop_add_timer(
			a->deps.loop, a->deps.max_running_ms, out_of_time, a);
}

static void on_task_not_started(void *arg, size_t ordinal, const char *why)
{
	struct attempt *a = arg;
	const struct task_record *task = &a->deps.tasks[ordinal];
	char text[sizeof(a->why)];

	snprintf(text, sizeof(text), "%s %d did not start: %s", task->type,
		 task->index, why);
	end(a, ENDING_FAILURE, OUTCOME_OTHER, text);
	set_task_state(a, ordinal, RUN_FAILED);
}

static void on_task_ended(void *arg, size_t ordinal, int status)
{
	struct attempt *a = arg;
	struct task_record *task = &a->deps.tasks[ordinal];
	enum run_state state = RUN_FAILED;
	char how[64], why[160];

	a->alive--;
	set_running(a);
	task->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	task->exit_code = process_exit_code(status);
	task->end_time_ms = time_now_ms();
	if (task->exit_code == 0)
		state = RUN_SUCCEEDED;
	else if (a->told[ordinal])
		state = RUN_CANCELLED;
	if (state == RUN_FAILED && a->ending == ENDING_NONE) {
		a->culprit = task;
		process_status_format(status, how, sizeof(how));
		snprintf(why, sizeof(why), "%s %d %s", task->type, task->index,
			 how);
		end(a, ENDING_FAILURE, OUTCOME_TASK, why);
	} else if (ordinal == 0 && state == RUN_SUCCEEDED) {
		end(a, ENDING_SUCCESS, OUTCOME_SUCCESS, "");
	}
	set_task_state(a, ordinal, state);
	finish_if_done(a);
}

static void on_task_lost(void *arg, size_t ordinal, const char *why)
{
	struct attempt *a = arg;
	struct task_record *task = &a->deps.tasks[ordinal];
	char text[sizeof(a->why)];

	a->alive--;
	task->end_time_ms = time_now_ms();
	if (a->ending == ENDING_NONE) {
		a->culprit = task;
		snprintf(text, sizeof(text), "%s %d was lost: %s", task->type,
			 task->index, why);
		end(a, ENDING_FAILURE, OUTCOME_LOST, text);
	}
	set_task_state(a, ordinal, RUN_FAILED);
	finish_if_done(a);
}

/* Adds the last output of the culprit to the reason. */
static void add_last_words(struct attempt *a)
{
	struct buf cause = { 0 };
	size_t used = strlen(a->why);

	if (a->culprit)
		log_cause_of_task(a->deps.spec->folder, a->culprit->type,
				  a->culprit->index, &cause);
	if (cause.len)
		snprintf(a->why + used, sizeof(a->why) - used, ": %s",
			 cause.data);
	buf_done(&cause);
}

static void on_finished(void *arg)
{
	struct attempt *a = arg;

	add_last_words(a);
	for (size_t i = 0; i < a->count; i++)
		if (!run_state_is_final(a->deps.tasks[i].state))
			set_task_state(a, i, RUN_CANCELLED);
	a->state = a->ending == ENDING_SUCCESS  ? RUN_SUCCEEDED
		   : a->ending == ENDING_CANCEL ? RUN_CANCELLED
						: RUN_FAILED;
	a->deps.backend->owner = NULL;
	a->hooks->ended(a->arg);
}

static const struct backend_owner backend_owner = {
	.prepared = on_prepared,
	.not_prepared = on_not_prepared,
	.task_started = on_task_started,
	.task_not_started = on_task_not_started,
	.task_ended = on_task_ended,
	.task_lost = on_task_lost,
	.finished = on_finished,
};

struct attempt *attempt_new(const struct attempt_deps *deps,
			    const struct attempt_hooks *hooks, void *arg)
{
	struct attempt *a = mem_alloc(sizeof(*a));

	a->deps = *deps;
	a->hooks = hooks;
	a->arg = arg;
	a->count = deps->spec->topology.count;
	a->told = mem_alloc(a->count * sizeof(*a->told));
	a->state = RUN_QUEUED;
	return a;
}

void attempt_free(struct attempt *attempt)
{
	if (!attempt)
		return;
	free(attempt->told);
	free(attempt);
}

static void reset_tasks(struct attempt *a)
{
	const struct topology *all = &a->deps.spec->topology;

	for (size_t i = 0; i < a->count; i++) {
		a->deps.tasks[i] = (struct task_record){
			.type = task_type_name(all->tasks[i].type),
			.index = all->tasks[i].index,
			.exit_code = -1,
			.host = spec_host_name(a->deps.spec, i),
			.lost_bytes = a->deps.tasks[i].lost_bytes,
			.trial = a->deps.tasks[i].trial,
		};
		set_task_state(a, i, RUN_QUEUED);
	}
}

void attempt_begin(struct attempt *a)
{
	struct backend *backend = a->deps.backend;
	struct error err;

	reset_tasks(a);
	backend->owner = &backend_owner;
	backend->owner_arg = a;
	set_state(a, RUN_PREPARING);
	a->preparing = true;
	if (backend->ops->prepare(backend, &err) < 0) {
		a->preparing = false;
		end(a, ENDING_FAILURE, OUTCOME_OTHER, err.text);
	}
}

void attempt_cancel(struct attempt *a, const char *why, bool now)
{
	struct backend *backend = a->deps.backend;

	/* The tasks have ended already. */
	if (a->finishing && backend->ops->hurry) {
		backend->ops->hurry(backend,
				    now ? 0 : a->deps.spec->grace_s * 1000);
		return;
	}
	end(a, ENDING_CANCEL, OUTCOME_CANCEL, why);
	/* SIGKILL is sent whatever the reason of the end was. */
	if (now)
		kill_all(a, 0);
}

void attempt_fail(struct attempt *a, const char *why)
{
	end(a, ENDING_FAILURE, OUTCOME_OTHER, why);
}

void attempt_lose(struct attempt *a, const char *why)
{
	end(a, ENDING_FAILURE, OUTCOME_LOST, why);
}

enum run_state attempt_state(const struct attempt *attempt)
{
	return attempt->state;
}

struct attempt_outcome attempt_outcome(const struct attempt *a)
{
	struct attempt_outcome out = {
		.cause = a->cause,
		.exit_code = -1,
		.why = a->cause == OUTCOME_SUCCESS ? NULL : a->why,
	};

	if (a->cause == OUTCOME_TASK || a->cause == OUTCOME_LOST)
		out.task = a->culprit;
	if (a->cause == OUTCOME_SUCCESS)
		out.exit_code = 0;
	else if (a->cause == OUTCOME_TASK)
		out.exit_code = a->culprit->exit_code;
	else if (a->cause == OUTCOME_HELD)
		out.exit_code = ERROR_TRY_AGAIN;
	else if (a->cause == OUTCOME_AWAY)
		out.exit_code = ERROR_UNREACHABLE;
	else if (a->cause == OUTCOME_DENIED)
		out.exit_code = ERROR_DENIED;
	return out;
}
