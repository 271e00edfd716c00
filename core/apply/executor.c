/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/executor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/apply/task.h"
#include "core/base/alloc.h"
#include "core/base/clock.h"

#define PARALLEL 16

void executor_settle(struct executor *executor)
{
	struct task *task;

	while ((task = executor->ready)) {
		executor->ready = task->next;
		if (!executor->ready)
			executor->ready_last = &executor->ready;
		task->ready = false;
		if (task_is_idle(task))
			task_advance(task);
	}
	if (executor->left)
		return;
	loop_remove(executor->loop, executor->pool_event);
	executor->pool_event = NULL;
	loop_stop(executor->loop);
}

static void on_pool(void *arg, uint32_t events)
{
	struct executor *executor = arg;
	struct work *work;

	(void)events;
	while ((work = pool_next(executor->pool)))
		task_call_done((struct task *)work);
	executor_settle(executor);
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
			task_stop_resting(task);
		task_make_ready(task);
	}
	executor_settle(executor);
}

static void kick(struct executor *executor)
{
	if (!executor->kick)
		executor->kick =
			loop_add_timer(executor->loop, 0, on_kick, executor);
}

/* Something is put up that what exists already must be ready for. */
static bool job_starts(const struct plan_job *job)
{
	size_t i;

	for (i = 0; i < job->action_count; i++)
		if (job->actions[i]->type != ACTION_NOOP &&
		    job->actions[i]->type != ACTION_DELETE)
			return true;
	return false;
}

static void task_init(struct executor *executor, const struct action *action,
		      void *ctx, struct job_state *job)
{
	struct task *task = &executor->tasks[action->index];
	size_t i;

	task->executor = executor;
	task->action = action;
	task->job = job;
	task->job->changing++;
	task->call.kind = (action->want ? action->want : action->have)->kind;
	task->call.ctx = ctx;
	task->call.fd = -1;
	task->fd = -1;
	task->step = step_row(action, executor->options->detach, job->starts);
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
	executor->jobs =
		mem_alloc(plan_job_count(plan) * sizeof(struct job_state));
	for (i = 0; i < plan_job_count(plan); i++) {
		const struct plan_job *job = plan_job_at(plan, i);
		void *ctx = options->context(options->arg, job->provider);

		executor->jobs[i].starts = options->settle || job_starts(job);

		for (j = 0; j < job->action_count; j++)
			task_init(executor, job->actions[j], ctx,
				  &executor->jobs[i]);
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
		task_stop_watching(task);
		loop_remove(executor->loop, task->timer);
		json_decref(task->call.found.properties);
		json_decref(task->call.found.outputs);
		free(task->after);
	}
	loop_remove(executor->loop, executor->pool_event);
	loop_remove(executor->loop, executor->kick);
	free(executor->jobs);
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
