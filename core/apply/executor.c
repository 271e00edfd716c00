/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/executor.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/apply/pool.h"
#include "core/apply/step.h"
#include "core/base/alloc.h"
#include "core/base/text.h"

#define PARALLEL 16
#define TRIES 5
#define FOLLOW_PATIENCE 4 /* times as many tries while a run is followed */
#define RETRY_MS 500
#define RETRY_MAX_MS 30000
#define POLL_MS 1000
/* A descriptor that stays readable while there is nothing to see must not
 * become a busy loop. */
#define WATCH_PAUSE_MS 100

enum cancelling {
	CANCEL_NOT,
	CANCEL_GRACE,
	CANCEL_NOW,
};

/* An action on its way. */
struct task {
	struct work work; /* the first member: the pool hands it back */
	struct call call;
	struct executor *executor;
	const struct action *action;
	const enum step *step; /* the one it is at */
	enum action_phase phase;
	struct task *next; /* in the ready list */
	bool ready;        /* is in it */

	struct task **after; /* those that need this one */
	size_t after_count;
	size_t needs_left;  /* of those before it, not yet done */
	size_t holds_left;  /* replacements that stand on it, not yet gone */
	bool holds;         /* this one was counted in those it needs */
	bool over_replaced; /* something below it is replaced */
	bool doomed;        /* one before it will never be done */
	bool *job_failed;   /* the executor's, for all of its job */

	bool started; /* a call was made */
	bool made;    /* created or changed: it is as wanted now */
	bool calling;
	int tries;             /* of this call */
	enum cancelling asked; /* what its provider was told */
	struct loop_event *timer;
	struct loop_event *watch;
	int fd;     /* from the kind's watch, or -1 */
	bool woken; /* by fd */
};

struct executor {
	const struct plan *plan;
	struct loop *loop;
	const struct executor_options *options;
	struct pool *pool;
	struct task *tasks; /* by the index of their action */
	size_t count;
	bool *job_failed; /* by the index of the job in the plan */
	size_t left;      /* not yet done, failed or skipped */
	struct task *ready;
	struct task **ready_last;
	struct loop_event *pool_event;
	struct loop_event *kick;
	enum cancelling cancelling;
	uint64_t random;
	bool skipped;
	bool failed;
	struct error err; /* the first */
};

static void advance(struct task *task);
static void settle(struct executor *executor);
static void on_timer(void *arg, uint32_t events);

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

static void make_ready(struct task *task)
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

static void stop_watching(struct task *task)
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
		make_ready(need);
	}
}

/* The end of an action, whichever. */
static void finish(struct task *task, enum action_phase phase,
		   const struct run_status *status, const struct error *err)
{
	size_t i;

	stop_watching(task);
	task->executor->left--;
	for (i = 0; i < task->after_count; i++) {
		if (phase == PHASE_DONE)
			task->after[i]->needs_left--;
		else
			task->after[i]->doomed = true;
		make_ready(task->after[i]);
	}
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
	*task->job_failed = true;
	finish(task, PHASE_FAILED, status, err);
	for (i = 0; i < job->action_count; i++)
		make_ready(&task->executor->tasks[job->actions[i]->index]);
}

static void interrupt(struct task *task)
{
	const struct resource *it = resource_of(task->action);
	struct error err;

	error_set(&err, ERROR_INTERRUPTED, "%s '%s': interrupted",
		  it->kind->name, it->name);
	fail(task, NULL, &err);
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
	    ++task->tries >= tries) {
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

static void in_thread(struct work *work)
{
	call_make(&((struct task *)work)->call);
}

/* What the call is about: what is wanted, once it is there. */
static void set_subject(struct task *task, enum step step)
{
	const struct action *action = task->action;
	struct resource *subject = &task->call.subject;
	bool make = step == STEP_CREATE || step == STEP_UPDATE;

	if (make || task->made || !action->have) {
		*subject = *action->want;
		memset(&subject->run, 0, sizeof(subject->run));
		if (make && action->have)
			subject->run.attempt = action->have->run.attempt;
	} else {
		*subject = *action->have;
		subject->kind = task->call.kind;
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
	memset(&call->found, 0, sizeof(call->found));
	call->found.kind = call->kind;
	call->found.name = call->subject.name;
	call->found.job = call->subject.job;
	call->step = step;
	call->fd = -1;
	call->state = WAIT_PENDING;
	call->now = executor->cancelling == CANCEL_NOW;
	task->started = true;
	task->calling = true;
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
	bool stopped = task->executor->cancelling || *task->job_failed;

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

/* Takes the steps up to the next that takes time. */
static void advance(struct task *task)
{
	const struct kind *kind = task->call.kind;

	for (;; task->step++) {
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
			stop_watching(task);
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

static void stop_resting(struct task *task)
{
	loop_remove(task->executor->loop, task->timer);
	loop_remove(task->executor->loop, task->watch);
	task->timer = NULL;
	task->watch = NULL;
}

static void on_watch(void *arg, uint32_t events)
{
	struct task *task = arg;
	char drop[4096];

	(void)events;
	stop_resting(task);
	/* What it says does not matter, but it says it until it is read.
	 * One that can't be read is slowed down by rest(). */
	if (read(task->fd, drop, sizeof(drop)) < 0)
		drop[0] = '\0';
	task->woken = true;
	make_ready(task);
	settle(task->executor);
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
			stop_watching(task); /* that cannot be waited for */
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

static void call_done(struct task *task)
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
	if (step == STEP_CREATE || step == STEP_UPDATE) {
		task->made = true;
		task->asked = CANCEL_NOT;
	}
	if (step == STEP_READ) {
		run_ended(task);
		return;
	}
	if (step == STEP_WAIT && call->state == WAIT_PENDING) {
		/* Unless it is to be told first that it shall end. */
		if (!task->executor->cancelling ||
		    (is_run(task) && task->asked == task->executor->cancelling))
			rest(task);
		else
			advance(task);
		return;
	}
	if (step == *task->step)
		task->step++;
	advance(task);
}

/* Nothing under way for it: no call, no timer, no descriptor. */
static bool is_idle(const struct task *task)
{
	return !task->calling && !task->timer && !task->watch && !is_over(task);
}

/* Whatever happened: does all that follows from it. */
static void settle(struct executor *executor)
{
	struct task *task;

	while ((task = executor->ready)) {
		executor->ready = task->next;
		if (!executor->ready)
			executor->ready_last = &executor->ready;
		task->ready = false;
		if (is_idle(task))
			advance(task);
	}
	if (executor->left)
		return;
	loop_remove(executor->loop, executor->pool_event);
	executor->pool_event = NULL;
	loop_stop(executor->loop);
}

static void on_timer(void *arg, uint32_t events)
{
	struct task *task = arg;

	(void)events;
	stop_resting(task);
	make_ready(task);
	settle(task->executor);
}

static void on_pool(void *arg, uint32_t events)
{
	struct executor *executor = arg;
	struct work *work;

	(void)events;
	while ((work = pool_next(executor->pool)))
		call_done((struct task *)work);
	settle(executor);
}

/* At the start, and after a cancel: everything that rests looks again. */
static void on_kick(void *arg, uint32_t events)
{
	struct executor *executor = arg;
	size_t i;

	(void)events;
	executor->kick = NULL;
	for (i = 0; i < executor->count; i++) {
		struct task *task = &executor->tasks[i];

		if (executor->cancelling)
			stop_resting(task);
		make_ready(task);
	}
	settle(executor);
}

static void kick(struct executor *executor)
{
	if (!executor->kick)
		executor->kick =
			loop_add_timer(executor->loop, 0, on_kick, executor);
}

static void task_init(struct executor *executor, const struct action *action,
		      void *ctx, bool *job_failed)
{
	struct task *task = &executor->tasks[action->index];
	size_t i;

	task->executor = executor;
	task->action = action;
	task->job_failed = job_failed;
	task->call.kind = resource_of(action)->kind;
	task->call.ctx = ctx;
	task->call.fd = -1;
	task->fd = -1;
	task->step = step_row(action, executor->options->detach);
	task->needs_left = action->need_count;
	task->holds = action->type == ACTION_REPLACE;
	/* Those before it come before it in the plan too. */
	for (i = 0; i < action->need_count; i++) {
		struct task *need = &executor->tasks[action->needs[i]->index];

		need->after_count++;
		need->holds_left += task->holds;
		if (need->over_replaced || need->holds)
			task->over_replaced = true;
	}
}

static void link_after(struct executor *executor)
{
	size_t i, j;

	for (i = 0; i < executor->count; i++) {
		struct task *task = &executor->tasks[i];

		task->after =
			mem_alloc(task->after_count * sizeof(struct task *));
		task->after_count = 0;
	}
	for (i = 0; i < executor->count; i++) {
		struct task *task = &executor->tasks[i];

		for (j = 0; j < task->action->need_count; j++) {
			struct task *need =
				&executor->tasks[task->action->needs[j]->index];

			need->after[need->after_count++] = task;
		}
	}
}

struct executor *executor_new(const struct plan *plan, struct loop *loop,
			      const struct executor_options *options,
			      struct error *err)
{
	struct executor *executor = mem_alloc(sizeof(*executor));
	size_t i, j;

	executor->pool =
		pool_new(options->parallel ? options->parallel : PARALLEL, err);
	if (!executor->pool) {
		free(executor);
		return NULL;
	}
	executor->plan = plan;
	executor->loop = loop;
	executor->options = options;
	executor->ready_last = &executor->ready;
	executor->random = (uint64_t)time_now_ms() << 20 ^ (uint64_t)getpid();
	executor->count = plan_count(plan);
	executor->left = executor->count;
	executor->tasks = mem_alloc(executor->count * sizeof(struct task));
	executor->job_failed = mem_alloc(plan_job_count(plan));
	for (i = 0; i < plan_job_count(plan); i++) {
		const struct plan_job *job = plan_job_at(plan, i);
		void *ctx = options->context(options->arg, job->provider);

		for (j = 0; j < job->action_count; j++)
			task_init(executor, job->actions[j], ctx,
				  &executor->job_failed[i]);
	}
	link_after(executor);
	return executor;
}

void executor_free(struct executor *executor)
{
	size_t i;

	if (!executor)
		return;
	pool_free(executor->pool);
	for (i = 0; i < executor->count; i++) {
		struct task *task = &executor->tasks[i];

		/* A watch whose answer nobody came to take. */
		if (task->calling && task->call.fd >= 0)
			close(task->call.fd);
		stop_watching(task);
		loop_remove(executor->loop, task->timer);
		json_decref(task->call.found.properties);
		free(task->after);
	}
	loop_remove(executor->loop, executor->pool_event);
	loop_remove(executor->loop, executor->kick);
	free(executor->job_failed);
	free(executor->tasks);
	free(executor);
}

int executor_start(struct executor *executor, struct error *err)
{
	executor->pool_event =
		loop_add_fd(executor->loop, pool_fd(executor->pool), EPOLLIN,
			    on_pool, executor, err);
	if (!executor->pool_event)
		return -1;
	kick(executor);
	return 0;
}

void executor_cancel(struct executor *executor, bool now)
{
	enum cancelling level = now ? CANCEL_NOW : CANCEL_GRACE;

	if (executor->cancelling < level)
		executor->cancelling = level;
	kick(executor);
}

int executor_result(const struct executor *executor, struct error *err)
{
	if (executor->failed) {
		*err = executor->err;
		return -1;
	}
	if (executor->left)
		return error_set(err, ERROR_INTERRUPTED,
				 "stopped before all was done");
	if (executor->skipped)
		return error_set(err, ERROR_INTERRUPTED, "interrupted");
	return 0;
}
