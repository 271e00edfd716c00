/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/executor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/apply/execution.h"
#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/plan/after.h"

#define PARALLEL 16

void executor_settle(struct executor *executor)
{
	struct execution *it;

	while ((it = executor->ready)) {
		executor->ready = it->next;
		if (!executor->ready)
			executor->ready_last = &executor->ready;
		it->ready = false;
		if (execution_is_idle(it))
			execution_advance(it);
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
		execution_call_done((struct execution *)work);
	executor_settle(executor);
}

/* Wakes all resting executions, at the start and after a cancel. */
static void on_kick(void *arg, uint32_t events)
{
	struct executor *executor = arg;
	size_t i;

	(void)events;
	executor->kick = NULL;
	for (i = 0; i < executor->count; i++) {
		struct execution *it = &executor->executions[i];

		if (executor->cancelling)
			execution_stop_resting(it);
		execution_make_ready(it);
	}
	executor_settle(executor);
}

static void kick(struct executor *executor)
{
	if (!executor->kick)
		executor->kick =
			loop_add_timer(executor->loop, 0, on_kick, executor);
}

/* Whether the job creates something that needs its existing resources to be
 * ready. */
static bool job_starts(const struct plan_job *job)
{
	size_t i;

	for (i = 0; i < job->action_count; i++)
		if (job->actions[i]->type != ACTION_NOOP &&
		    job->actions[i]->type != ACTION_DELETE)
			return true;
	return false;
}

static void execution_init(struct executor *executor,
			   const struct action *action, void *ctx,
			   struct job_state *job)
{
	struct execution *it = &executor->executions[action->index];
	size_t i;

	it->executor = executor;
	it->action = action;
	it->job = job;
	it->job->changing++;
	it->call.kind = action_resource(action)->kind;
	it->call.ctx = ctx;
	it->call.fd = -1;
	it->fd = -1;
	it->step = step_row(action, executor->options->detach, job->starts,
			    job->self_made);
	it->needs_left = action->need_count;
	it->holds = action->type == ACTION_REPLACE;
	/* The needs of an action also come before it in the plan. */
	for (i = 0; i < action->need_count; i++) {
		struct execution *need =
			&executor->executions[action->needs[i]->index];

		need->after_count++;
		need->holds_left += it->holds;
		if (need->over_replaced || need->holds)
			it->over_replaced = true;
	}
}

static void link_after(struct executor *executor)
{
	size_t i, j;

	for (i = 0; i < executor->count; i++) {
		struct execution *it = &executor->executions[i];

		it->after =
			mem_alloc(it->after_count * sizeof(struct execution *));
		it->after_count = 0;
	}
	for (i = 0; i < executor->count; i++) {
		struct execution *it = &executor->executions[i];

		for (j = 0; j < it->action->need_count; j++) {
			struct execution *need =
				&executor->executions[it->action->needs[j]
							      ->index];

			need->after[need->after_count++] = it;
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
	executor->executions =
		mem_alloc(executor->count * sizeof(struct execution));
	executor->jobs =
		mem_alloc(plan_job_count(plan) * sizeof(struct job_state));
	for (i = 0; i < plan_job_count(plan); i++) {
		const struct plan_job *job = plan_job_at(plan, i);
		void *ctx = options->context(options->arg, job->provider);

		executor->jobs[i].starts = options->settle || job_starts(job);
		executor->jobs[i].self_made = plan_job_is_self_made(job);

		for (j = 0; j < job->action_count; j++)
			execution_init(executor, job->actions[j], ctx,
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
		struct execution *it = &executor->executions[i];

		/* Close a watch whose answer was not collected. */
		if (it->calling && it->call.fd >= 0)
			close(it->call.fd);
		execution_stop_watching(it);
		loop_remove(executor->loop, it->timer);
		json_decref(it->call.found.properties);
		json_decref(it->call.found.outputs);
		free(it->after);
	}
	loop_remove(executor->loop, executor->pool_event);
	loop_remove(executor->loop, executor->kick);
	free(executor->jobs);
	free(executor->executions);
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

void executor_drop(struct executor *executor, const char *job_id)
{
	size_t i;

	for (i = 0; i < executor->count; i++) {
		struct execution *it = &executor->executions[i];

		if (it->started || it->phase != PHASE_WAITING ||
		    !after_waits(it->action) ||
		    strcmp(it->action->job->job->job_id, job_id) != 0)
			continue;
		it->dropped = true;
		execution_make_ready(it);
	}
	kick(executor);
}

void executor_leave(struct executor *executor,
		    bool (*leaves)(void *arg, const struct action *action),
		    void *arg)
{
	executor->leaves = leaves;
	executor->leaves_arg = arg;
	executor_cancel(executor, false);
}

int executor_result(const struct executor *executor, struct error *err)
{
	if (executor->failed) {
		*err = executor->err;
		return -1;
	}
	if (executor->left)
		return error_set(err, ERROR_INTERRUPTED,
				 "stopped before everything was done");
	if (executor->skipped)
		return error_set(err, ERROR_INTERRUPTED, "interrupted");
	return 0;
}
