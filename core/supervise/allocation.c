/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/allocation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "core/apply/executor.h"
#include "core/apply/pool.h"
#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/provider/listing.h"
#include "core/plan/cleanup.h"
#include "core/supervise/allocation_file.h"

/* A machine is lost when this many looks in a row find it unusable: it may be
 * unusable for a moment. */
#define PENDING_MAX 2
/* How often to try to delete machines, which cost money: with the executor's
 * delays this takes about five minutes. */
#define RELEASE_TRIES 14

struct allocation {
	struct work work; /* the first member, as the pool returns it */
	struct allocation_deps deps;
	struct allocation_file kept;
	void *ctx;
	struct pool *pool; /* one thread, which looks at machines */
	struct loop_event *pool_event;
	struct executor *executor; /* while it runs */
	bool interrupted;

	/* The work of the thread and its result. */
	bool busy;
	struct resource *observed; /* owned */
	int ret;
	struct error err;

	bool watching;
	struct loop_event *timer;
	int pending; /* looks in a row that found it unusable */
	char why[512];
};

static struct resources *desired(const struct allocation *all)
{
	return all->kept.resources;
}

/* ---- looking, in a thread --------------------------------------------- */

static void forget_observed(struct allocation *all)
{
	resources_forget(all->observed, desired(all)->count);
	all->observed = NULL;
}

static void in_thread_read(struct work *work)
{
	struct allocation *all = (struct allocation *)work;

	all->observed = resources_read(desired(all), all->ctx, &all->err);
	all->ret = all->observed ? 0 : -1;
}

/* Looks whether all machines can be used, up to the first that can't. */
static void in_thread_look(struct work *work)
{
	struct allocation *all = (struct allocation *)work;
	struct error ignored;
	size_t i;

	all->ret = 0;
	for (i = 0; i < desired(all)->count && all->ret == 0; i++) {
		const struct resource *one = desired(all)->items[i];
		enum wait_state state = WAIT_DONE;

		if (!one->kind->wait)
			continue;
		all->err = (struct error){ 0 };
		all->ret = one->kind->wait(all->ctx, one, &state, &all->err);
		if (all->ret == 0 && state == WAIT_PENDING)
			all->ret = 1;
		if (all->ret)
			error_prefix(&all->err, "%s '%s'", one->kind->name,
				     one->name);
		/* A failed renewal is tried again in time, before the lease
		 * ends. */
		else if (one->kind->renew)
			one->kind->renew(all->ctx, one, &ignored);
	}
}

static void start(struct allocation *all, void (*call)(struct work *))
{
	forget_observed(all);
	all->busy = true;
	all->work.call = call;
	if (pool_add(all->pool, &all->work, false, &all->err) < 0) {
		all->busy = false;
		all->ret = -1;
	}
}

static void look_again(struct allocation *all);

static void judge_look(struct allocation *all)
{
	bool passes = all->ret < 0 && !all->err.final &&
		      (all->err.code == ERROR_TRY_AGAIN ||
		       all->err.code == ERROR_UNREACHABLE ||
		       error_is_denied(&all->err));

	if (all->ret <= 0)
		all->pending = 0;
	/* A failed look says nothing about the machine. */
	if (all->ret == 0 || passes ||
	    (all->ret > 0 && ++all->pending < PENDING_MAX)) {
		look_again(all);
		return;
	}
	snprintf(all->why, sizeof(all->why), "%s", all->err.text);
	all->watching = false;
	all->deps.lost(all->deps.arg, all->why);
}

static void on_pool(void *arg, uint32_t events)
{
	struct allocation *all = arg;
	bool done = false;

	(void)events;
	while (pool_next(all->pool))
		done = true;
	if (!done)
		return;
	all->busy = false;
	if (all->watching)
		judge_look(all);
	else
		loop_stop(all->deps.loop);
}

/* Waits for the thread; signals are handled meanwhile. */
static int finish_call(struct allocation *all, struct error *err)
{
	while (all->busy)
		if (loop_run(all->deps.loop, err) < 0)
			return -1;
	return 0;
}

static int observe(struct allocation *all, struct error *err)
{
	if (finish_call(all, err) < 0)
		return -1;
	start(all, in_thread_read);
	if (finish_call(all, err) < 0)
		return -1;
	if (all->ret < 0)
		*err = all->err;
	return all->ret;
}

/* Another owner's run has them: what it is called, or NULL. */
static const char *holder(const struct allocation *all)
{
	const char *out = NULL;
	size_t i;

	for (i = 0; i < desired(all)->count && !out; i++)
		out = json_get_text(all->observed[i].outputs, OUTPUT_HELD,
				    NULL);
	return out;
}

static int check_holder(const struct allocation *all, struct error *err)
{
	const char *other = holder(all);

	if (!other)
		return 0;
	return error_set_final(err, ERROR_TRY_AGAIN,
			       "another owner, %s, has the machines: they are "
			       "free when its run ends, or when nothing was "
			       "heard of it for their lease",
			       other);
}

/* ---- making and deleting ----------------------------------------------- */

static void *context_of(void *arg, const struct provider *provider)
{
	const struct allocation *all = arg;

	(void)provider;
	return all->ctx;
}

static void say(struct allocation *all, const struct action *action,
		const char *what)
{
	const struct resource *it = action_resource(action);
	char *text = mem_printf("%s '%s': %s", it->kind->name, it->name, what);

	all->deps.progress(all->deps.arg, text);
	free(text);
}

static void on_waits(void *arg, const struct action *action, const char *what)
{
	say(arg, action, what);
}

static void on_phase(void *arg, const struct action *action,
		     enum action_phase phase, const struct run_status *status,
		     const struct error *err)
{
	struct allocation *all = arg;

	(void)status;
	if (phase == PHASE_CALLING)
		say(all, action, action_type_name(action->type));
	else if (phase == PHASE_RETRYING && err)
		say(all, action, err->text);
}

static int execute(struct allocation *all, const struct plan *plan, bool settle,
		   struct error *err)
{
	struct journal journal = journal_in_store(all->deps.store);
	const struct executor_options how = {
		.settle = settle,
		.tries = settle ? 0 : RELEASE_TRIES,
		.context = context_of,
		.phase = on_phase,
		.waits = on_waits,
		.journal = &journal,
		.arg = all,
	};
	int ret = -1;

	all->executor = executor_new(plan, all->deps.loop, &how, err);
	if (all->executor && executor_start(all->executor, err) == 0 &&
	    loop_run(all->deps.loop, err) == 0)
		ret = executor_result(all->executor, err);
	executor_free(all->executor);
	all->executor = NULL;
	return ret;
}

/* Closes the intents of the resources, which all are as desired: a command that
 * was killed may have left them open. */
static int settle(const struct allocation *all, struct error *err)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < desired(all)->count && ret == 0; i++) {
		const struct resource *it = desired(all)->items[i];
		const struct intent_record intent = {
			.job_id = all->kept.job->job_id,
			.provider = all->kept.provider->name,
			.kind = it->kind->name,
			.name = it->name,
		};

		ret = store_intent_end(all->deps.store, &intent, INTENT_DONE,
				       NULL, err);
	}
	return ret;
}

static void merge_outputs(const struct allocation *all, json_t *out)
{
	size_t i;

	for (i = 0; i < desired(all)->count; i++)
		if (all->observed[i].outputs)
			json_object_update(out, all->observed[i].outputs);
}

static int make(struct allocation *all, bool *made, struct error *err)
{
	const struct plan_options options = { .store = all->deps.store };
	struct plan *plan = plan_new();
	int ret = plan_add(plan, all->kept.provider, all->kept.job,
			   desired(all), all->observed, &options, err);

	if (ret == 0) {
		*made = !plan_is_empty(plan);
		ret = execute(all, plan, true, err);
	}
	plan_free(plan);
	return ret;
}

int allocation_ensure(struct allocation *all, json_t **outputs, bool *made,
		      struct error *err)
{
	int ret;

	all->interrupted = false;
	ret = observe(all, err);
	if (ret == 0)
		ret = check_holder(all, err);
	if (ret == 0 && !all->interrupted)
		ret = make(all, made, err);
	/* Somebody else may have been faster. */
	if (ret == 0 && !all->interrupted)
		ret = observe(all, err);
	if (ret == 0 && !all->interrupted)
		ret = check_holder(all, err);
	if (all->interrupted)
		ret = error_set(err, ERROR_INTERRUPTED, "interrupted");
	if (ret == 0)
		ret = settle(all, err);
	if (ret < 0)
		return -1;
	*outputs = json_object();
	merge_outputs(all, *outputs);
	return 0;
}

void allocation_interrupt(struct allocation *all)
{
	all->interrupted = true;
	if (all->executor)
		executor_cancel(all->executor, true);
}

bool allocation_is_over(const struct allocation *all, enum run_state state)
{
	return cleanup_is_due(all->kept.job->jobrun.cleanup, state);
}

int allocation_release(struct allocation *all, struct error *err)
{
	struct plan *plan;
	size_t i;
	int ret;

	allocation_unwatch(all);
	ret = observe(all, err);
	if (ret < 0)
		return -1;
	if (holder(all))
		return settle(all, err);
	/* Resources that these need may serve other runs, too. */
	for (i = 0; i < desired(all)->count; i++)
		if (!(desired(all)->items[i]->kind->flags & KIND_FOR_RUN))
			all->observed[i].exists = false;
	plan = plan_new();
	plan_add_delete(plan, all->kept.provider, all->kept.job, desired(all),
			all->observed, "the run is over");
	ret = plan_is_empty(plan) ? 0 : execute(all, plan, false, err);
	plan_free(plan);
	return ret == 0 ? settle(all, err) : -1;
}

/* ---- watching ---------------------------------------------------------- */

static void on_timer(void *arg, uint32_t events)
{
	struct allocation *all = arg;

	(void)events;
	all->timer = NULL;
	if (all->busy)
		look_again(all);
	else
		start(all, in_thread_look);
}

static void look_again(struct allocation *all)
{
	all->timer = loop_add_timer(all->deps.loop, all->kept.interval_ms,
				    on_timer, all);
}

void allocation_watch(struct allocation *all)
{
	if (all->watching)
		return;
	all->watching = true;
	all->pending = 0;
	look_again(all);
}

void allocation_unwatch(struct allocation *all)
{
	all->watching = false;
	loop_remove(all->deps.loop, all->timer);
	all->timer = NULL;
}

/* ---- its life ---------------------------------------------------------- */

struct allocation *allocation_open(const json_t *kept,
				   const struct allocation_deps *deps,
				   struct error *err)
{
	struct allocation *all = mem_alloc(sizeof(*all));
	const struct provider_env env = { .store = deps->store };

	all->deps = *deps;
	if (allocation_read(kept, deps->providers, &all->kept, err) < 0)
		goto fail;
	all->ctx = all->kept.provider->open(&env, err);
	all->pool = all->ctx ? pool_new(1, err) : NULL;
	if (!all->pool)
		goto fail;
	all->pool_event = loop_add_fd(deps->loop, pool_fd(all->pool), EPOLLIN,
				      on_pool, all, err);
	if (all->pool_event)
		return all;
fail:
	allocation_close(all);
	return NULL;
}

void allocation_close(struct allocation *all)
{
	if (!all)
		return;
	loop_remove(all->deps.loop, all->timer);
	loop_remove(all->deps.loop, all->pool_event);
	pool_free(all->pool);
	if (all->kept.resources)
		forget_observed(all);
	if (all->ctx)
		all->kept.provider->close(all->ctx);
	allocation_file_done(&all->kept);
	free(all);
}
