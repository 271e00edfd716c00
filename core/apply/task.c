/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/apply/fill_outputs.h"

#define TRIES 5
#define FOLLOW_PATIENCE 4 /* times as many tries while a run is followed */
#define RETRY_MS 500
#define RETRY_MAX_MS 30000
#define POLL_MS 1000
/* A descriptor that stays readable while there is nothing to see must not
 * become a busy loop. */
#define WATCH_PAUSE_MS 100

static const struct resource *resource_of(const struct action *action)
{
	return action->want ? action->want : action->have;
}

static bool is_run(const struct task *task)
{
	return task->call.kind->flags & KIND_RUN;
}

static bool is_over(const struct task *task)
{
	return task->phase >= PHASE_DONE;
}

void task_make_ready(struct task *task)
{
	struct executor *executor = task->executor;

	if (task->ready || is_over(task))
		return;
	task->ready = true;
	task->next = NULL;
	*executor->ready_last = task;
	executor->ready_last = &task->next;
}

static void enter(struct task *task, enum action_phase phase,
		  const struct run_status *status, const struct error *err)
{
	const struct executor_options *options = task->executor->options;

	if (phase == task->phase && phase != PHASE_RETRYING)
		return;
	task->phase = phase;
	if (options->phase)
		options->phase(options->arg, task->action, phase, status, err);
}

static void keep_error(struct executor *executor, const struct error *err)
{
	if (executor->failed)
		return;
	executor->failed = true;
	executor->err = *err;
}

void task_stop_watching(struct task *task)
{
	loop_remove(task->executor->loop, task->watch);
	task->watch = NULL;
	if (task->fd >= 0)
		close(task->fd);
	task->fd = -1;
	task->woken = false;
}

/* What this needs and is replaced too can be taken down now. */
static void let_go(struct task *task)
{
	const struct action *action = task->action;
	size_t i;

	if (!task->holds)
		return;
	task->holds = false;
	for (i = 0; i < action->need_count; i++) {
		struct task *need =
			&task->executor->tasks[action->needs[i]->index];

		need->holds_left--;
		task_make_ready(need);
	}
}

/* Whether it was done cannot be known from that; or it is there still and was
 * to go, which is not to be forgotten. */
static bool is_unknown(const struct task *task, const struct error *err)
{
	return task->action->type == ACTION_DELETE ||
	       err->code == ERROR_UNREACHABLE || err->code == ERROR_TIMEOUT ||
	       err->code == ERROR_INTERRUPTED;
}

/* Nothing of it is left, but maybe a run to follow.  `err` is NULL if it was
 * done. */
static void become_settled(struct task *task, const struct error *err)
{
	const struct executor_options *options = task->executor->options;
	const struct journal *journal = options->journal;

	if (task->intent)
		journal->end(journal->arg, task->action,
			     !err                    ? INTENT_DONE
			     : is_unknown(task, err) ? INTENT_UNKNOWN
						     : INTENT_FAILED,
			     err);
	task->intent = false;
	if (task->settled)
		return;
	task->settled = true;
	if (--task->job->changing == 0 && options->settled)
		options->settled(options->arg, task->action->job);
}

/* The end of an action, whichever. */
static void finish(struct task *task, enum action_phase phase,
		   const struct run_status *status, const struct error *err)
{
	size_t i;

	task_stop_watching(task);
	task->executor->left--;
	for (i = 0; i < task->after_count; i++) {
		if (phase == PHASE_DONE)
			task->after[i]->needs_left--;
		else
			task->after[i]->doomed = true;
		task_make_ready(task->after[i]);
	}
	become_settled(task, err);
	enter(task, phase, status, err);
}

static void skip(struct task *task)
{
	task->executor->skipped = true;
	finish(task, PHASE_SKIPPED, NULL, NULL);
}

/* Nothing more of its job is started. */
static void fail(struct task *task, const struct run_status *status,
		 const struct error *err)
{
	const struct plan_job *job = task->action->job;
	size_t i;

	keep_error(task->executor, err);
	task->job->failed = true;
	finish(task, PHASE_FAILED, status, err);
	for (i = 0; i < job->action_count; i++)
		task_make_ready(&task->executor->tasks[job->actions[i]->index]);
}

static void interrupt(struct task *task)
{
	const struct resource *it = resource_of(task->action);
	struct error err;

	error_set(&err, ERROR_INTERRUPTED, "%s '%s': interrupted",
		  it->kind->name, it->name);
	fail(task, NULL, &err);
}

void task_stop_resting(struct task *task)
{
	loop_remove(task->executor->loop, task->timer);
	loop_remove(task->executor->loop, task->watch);
	task->timer = NULL;
	task->watch = NULL;
}

static void on_timer(void *arg, uint32_t events)
{
	struct task *task = arg;

	(void)events;
	task_stop_resting(task);
	task_make_ready(task);
	executor_settle(task->executor);
}

static void set_timer(struct task *task, int64_t delay_ms)
{
	task->timer =
		loop_add_timer(task->executor->loop, delay_ms, on_timer, task);
}

/* Half of the delay is fixed, half is left to chance, so that many that
 * failed together do not come back together. */
static int64_t retry_delay(struct executor *executor, int tries)
{
	int64_t delay = executor->options->retry_ms > 0
				? executor->options->retry_ms
				: RETRY_MS;

	for (; tries > 1 && delay < RETRY_MAX_MS; tries--)
		delay *= 2;
	delay = delay < RETRY_MAX_MS ? delay : RETRY_MAX_MS;
	executor->random ^= executor->random << 13;
	executor->random ^= executor->random >> 7;
	executor->random ^= executor->random << 17;
	return delay / 2 +
	       (int64_t)(executor->random % (uint64_t)(delay / 2 + 1));
}

static void call_failed(struct task *task)
{
	struct error *err = &task->call.err;
	struct executor *executor = task->executor;
	enum step step = task->call.step;
	bool follows = is_run(task) &&
		       (step_follows(*task->step) || step == STEP_CANCEL);
	int tries =
		executor->options->tries > 0 ? executor->options->tries : TRIES;

	error_prefix(err, "%s %s '%s'", step_verb(step, task->call.kind),
		     task->call.kind->name, task->call.subject.name);
	if (follows)
		tries *= FOLLOW_PATIENCE;
	if ((err->code != ERROR_TRY_AGAIN && err->code != ERROR_UNREACHABLE) ||
	    err->final || ++task->tries >= tries) {
		fail(task, NULL, err);
		return;
	}
	if (executor->cancelling && !follows) {
		interrupt(task);
		return;
	}
	set_timer(task, retry_delay(executor, task->tries));
	enter(task, PHASE_RETRYING, NULL, err);
}

static bool makes(enum step step)
{
	return step == STEP_CREATE || step == STEP_UPDATE;
}

static void in_thread(struct work *work)
{
	struct task *task = (struct task *)work;
	const struct journal *journal = task->executor->options->journal;

	if (task->intends) {
		if (journal->begin(journal->arg, task->action,
				   &task->call.err) < 0) {
			task->call.ret = -1;
			return;
		}
		task->intent = true;
	}
	if (!makes(task->call.step)) {
		call_make(&task->call);
		return;
	}
	if (fill_resource(&task->call.subject, task->call.ctx,
			  &task->call.err) < 0) {
		task->call.ret = -1;
		return;
	}
	call_make(&task->call);
	if (task->call.ret == 0 && journal && journal->applied && !is_run(task))
		journal->applied(journal->arg, task->action,
				 &task->call.subject);
	fill_done(&task->call.subject);
}

/* What the call is about: what is wanted, once it is there. */
static void set_subject(struct task *task, enum step step)
{
	const struct action *action = task->action;
	struct resource *subject = &task->call.subject;
	bool make = makes(step);

	if (make || task->made || !action->have) {
		*subject = *action->want;
		memset(&subject->run, 0, sizeof(subject->run));
		if (make && action->have)
			subject->run.attempt = action->have->run.attempt;
	} else {
		*subject = *action->have;
		subject->kind = task->call.kind;
		/* It may vanish while it is waited for. */
		if (action->want)
			subject->request = action->want->request;
	}
}

static void start_call(struct task *task, enum step step)
{
	struct executor *executor = task->executor;
	struct call *call = &task->call;
	bool urgent = step == STEP_CANCEL;
	struct error err;

	if (step_follows(step))
		enter(task, PHASE_FOLLOWING, NULL, NULL);
	else if (!is_run(task) || step == *task->step)
		enter(task, PHASE_CALLING, NULL, NULL);
	set_subject(task, step);
	json_decref(call->found.properties);
	json_decref(call->found.outputs);
	memset(&call->found, 0, sizeof(call->found));
	call->found.kind = call->kind;
	call->found.name = call->subject.name;
	call->found.job = call->subject.job;
	call->step = step;
	call->fd = -1;
	call->state = WAIT_PENDING;
	call->now = executor->cancelling == CANCEL_NOW;
	call->err = (struct error){ 0 };
	task->started = true;
	task->calling = true;
	task->intends = executor->options->journal && !task->settled &&
			!task->intent && step_changes(step);
	task->work.call = in_thread;
	if (step == STEP_CANCEL)
		task->asked = executor->cancelling;
	if (pool_add(executor->pool, &task->work, urgent, &err) < 0) {
		task->calling = false;
		fail(task, NULL, &err);
	}
}

/* A call that the steps ask for, unless all is to be ended. */
static void next_call(struct task *task)
{
	enum cancelling level = task->executor->cancelling;
	enum step step = *task->step;
	bool follows = is_run(task) && step_follows(step);

	if (follows && step != STEP_READ && task->asked < level)
		start_call(task, STEP_CANCEL);
	else if (level && !follows && step != STEP_CANCEL)
		interrupt(task);
	else
		start_call(task, step);
}

/* Returns false if it has to wait for others. */
static bool pass_gate(struct task *task)
{
	bool at_free = *task->step == STEP_FREE;
	bool stopped = task->executor->cancelling || task->job->failed;

	if (task->doomed || (stopped && !task->started)) {
		skip(task);
		return false;
	}
	if (task->executor->cancelling) {
		interrupt(task);
		return false;
	}
	if (at_free)
		return !task->holds_left &&
		       (task->over_replaced || !task->needs_left);
	return !task->needs_left;
}

void task_advance(struct task *task)
{
	const struct kind *kind = task->call.kind;

	for (;; task->step++) {
		if (is_run(task) && step_only_follows(task->step))
			become_settled(task, NULL);
		switch (*task->step) {
		case STEP_END:
			finish(task, PHASE_DONE,
			       is_run(task) && task->action->have && !task->made
				       ? &task->action->have->run
				       : NULL,
			       NULL);
			return;
		case STEP_FREE:
		case STEP_NEEDS:
			if (!pass_gate(task))
				return;
			continue;
		case STEP_GONE:
			task_stop_watching(task);
			let_go(task);
			continue;
		case STEP_WATCH:
			if (!kind->watch)
				continue;
			break;
		case STEP_WAIT:
			if (!kind->wait)
				continue;
			break;
		default:
			break;
		}
		next_call(task);
		return;
	}
}

static void on_watch(void *arg, uint32_t events)
{
	struct task *task = arg;
	char drop[4096];

	(void)events;
	task_stop_resting(task);
	/* What it says does not matter, but it says it until it is read.
	 * One that can't be read is slowed down by rest(). */
	if (read(task->fd, drop, sizeof(drop)) < 0)
		drop[0] = '\0';
	task->woken = true;
	task_make_ready(task);
	executor_settle(task->executor);
}

/* Not there yet: until when? */
static void rest(struct task *task)
{
	const struct kind *kind = task->call.kind;
	struct error ignored;

	if (task->woken) {
		task->woken = false;
		set_timer(task, WATCH_PAUSE_MS);
		return;
	}
	if (task->fd >= 0) {
		task->watch = loop_add_fd(task->executor->loop, task->fd,
					  EPOLLIN, on_watch, task, &ignored);
		if (!task->watch)
			task_stop_watching(task); /* that can't be waited for */
	}
	/* Also with a watch, which may never hear of what died suddenly. */
	set_timer(task, kind->poll_ms > 0 ? kind->poll_ms : POLL_MS);
}

static void run_ended(struct task *task)
{
	const struct run_status *run = &task->call.found.run;
	const char *name = task->call.subject.name;
	struct error err;

	if (!task->call.found.exists) {
		error_set(&err, ERROR_FAILED,
			  "run '%s' is gone: somebody deleted it", name);
		fail(task, NULL, &err);
	} else if (!run_state_is_final(run->state)) {
		while (*task->step != STEP_WAIT)
			task->step--;
		rest(task);
	} else if (run->state == RUN_SUCCEEDED) {
		finish(task, PHASE_DONE, run, NULL);
	} else if (run->state == RUN_CANCELLED) {
		error_set(&err,
			  task->executor->cancelling ? ERROR_INTERRUPTED
						     : ERROR_FAILED,
			  "run '%s' was cancelled", name);
		fail(task, run, &err);
	} else {
		if (run->error[0])
			error_set(&err, ERROR_FAILED, "run '%s': FAILED: %s",
				  name, run->error);
		else
			error_set(&err, ERROR_FAILED,
				  "run '%s': FAILED (exit %d)", name,
				  run->exit_code);
		fail(task, run, &err);
	}
}

static void tell_wait(struct task *task)
{
	const struct executor_options *options = task->executor->options;
	char text[sizeof(task->waits_for)];

	snprintf(text, sizeof(text), "%.159s", task->call.err.text);
	if (!*text || !options->waits || !strcmp(text, task->waits_for))
		return;
	memcpy(task->waits_for, text, sizeof(text));
	options->waits(options->arg, task->action, text);
}

bool task_is_idle(const struct task *task)
{
	return !task->calling && !task->timer && !task->watch && !is_over(task);
}

void task_call_done(struct task *task)
{
	const struct call *call = &task->call;
	enum step step = call->step;

	task->calling = false;
	if (call->ret < 0 && step == STEP_CANCEL)
		task->asked = CANCEL_NOT;
	if (call->ret < 0 && step != STEP_WATCH) {
		call_failed(task);
		return;
	}
	task->tries = 0;
	if (step == STEP_WATCH)
		task->fd = call->ret < 0 ? -1 : call->fd; /* -1: it is polled */
	if (makes(step)) {
		task->made = true;
		task->asked = CANCEL_NOT;
	}
	if (step == STEP_READ) {
		run_ended(task);
		return;
	}
	if (step == STEP_WAIT && call->state == WAIT_PENDING) {
		tell_wait(task);
		/* Unless it is to be told first that it shall end. */
		if (!task->executor->cancelling ||
		    (is_run(task) && task->asked == task->executor->cancelling))
			rest(task);
		else
			task_advance(task);
		return;
	}
	if (step == *task->step)
		task->step++;
	task_advance(task);
}
