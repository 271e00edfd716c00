/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/run_context.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/process/ports.h"
#include "core/supervise/children.h"
#include "core/topology/contract.h"
#include "core/supervise/hosts.h"

static void on_task_changed(void *arg, size_t ordinal)
{
	struct run_context *context = arg;

	context->tasks[ordinal].lost_bytes =
		log_writer_lost(context->logs[ordinal]);
	recorder_task(&context->recorder, ordinal);
}

static void on_state_changed(void *arg)
{
	struct run_context *context = arg;

	context->state_changed(context->arg);
}

static void on_ended(void *arg)
{
	struct run_context *context = arg;

	context->ended(context->arg);
}

static const struct attempt_hooks hooks = {
	.task_changed = on_task_changed,
	.state_changed = on_state_changed,
	.ended = on_ended,
};

/* Leases the ports, and writes them down for `env` and for followers. */
static int lease_ports(struct run_context *context, struct arena *mem,
		       struct error *err)
{
	size_t count = topology_port_count(&context->spec.topology);
	int *ports = arena_alloc(mem, count * sizeof(*ports));

	context->ports = ports_lease(SPEC_FIRST_PORT, count, ports, err);
	if (!context->ports)
		return -1;
	topology_set_ports(&context->spec.topology, ports);
	contract_share(&context->spec.topology, mem);
	return spec_write(&context->spec, err);
}

/* Names the run for its hosts, where it needs no ports of this machine. */
static int name_run(struct run_context *context, struct arena *mem,
		    struct error *err)
{
	unsigned long long random;

	if (*context->spec.hosts.nonce)
		return 0;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return error_errno(err, "cannot get a random number");
	context->spec.hosts.nonce = arena_printf(mem, "%016llx", random);
	return spec_write(&context->spec, err);
}

static int find_owner(const struct run_context *context, struct arena *mem,
		      const char **out, struct error *err)
{
	char *owner = store_owner(context->deps->store, err);

	if (owner)
		*out = arena_strdup(mem, owner);
	free(owner);
	return *out ? 0 : -1;
}

static void on_progress(void *arg, size_t ready, size_t count)
{
	struct run_context *context = arg;

	if (context->progress)
		context->progress(context->arg, ready, count);
}

static void on_waits(void *arg, const char *what)
{
	struct run_context *context = arg;

	if (context->waits)
		context->waits(context->arg, what);
}

/* Sets the context's backend, once there are hosts if it needs any. */
static int make_backend(struct run_context *context, struct arena *mem,
			struct error *err)
{
	const struct children_deps here = {
		.spec = &context->spec,
		.loop = context->deps->loop,
		.reaper = context->deps->reaper,
		.logs = context->logs,
		.no_files = context->deps->no_files,
	};
	struct hosts_deps there = {
		.spec = &context->spec,
		.mem = mem,
		.loop = context->deps->loop,
		.reaper = context->deps->reaper,
		.logs = context->logs,
		.store = store_folder(context->deps->store),
		.progress = on_progress,
		.waits = on_waits,
		.origin = context->run->origin,
		.create_time_ms = context->run->create_time_ms,
		.arg = context,
	};

	/* The machines have to be created first. */
	if (!context->spec.hosts.names.count && context->spec.allocation)
		return 0;
	if (context->spec.hosts.names.count &&
	    find_owner(context, mem, &there.owner, err) < 0)
		return -1;
	if (context->backend)
		hosts_move(context->backend, &there);
	else if (context->spec.hosts.names.count)
		context->backend = hosts_new(&there, err);
	else
		context->backend = children_new(&here);
	return context->backend ? 0 : -1;
}

int run_context_open(struct run_context *context, struct arena *mem,
		     struct error *err)
{
	bool is_elsewhere = spec_is_elsewhere(&context->spec);
	size_t count = context->spec.topology.count;

	context->tasks = arena_alloc(mem, count * sizeof(*context->tasks));
	context->logs = arena_alloc(mem, count * sizeof(struct log_writer *));
	if (is_elsewhere && name_run(context, mem, err) < 0)
		return -1;
	context->recorder = (struct recorder){ .store = context->deps->store,
					       .loop = context->deps->loop,
					       .run = context->run,
					       .tasks = context->tasks,
					       .count = count };
	/* The backend comes before the ports: its descriptors should be low,
	 * for the children. */
	if (make_backend(context, mem, err) < 0)
		return -1;
	return is_elsewhere ? 0 : lease_ports(context, mem, err);
}

void run_context_leave(struct run_context *context)
{
	if (context->backend)
		context->backend->ops->free(context->backend);
	context->backend = NULL;
}

static int move(struct run_context *context, struct arena *mem,
		struct error *err)
{
	run_context_leave(context);
	return make_backend(context, mem, err) < 0
		       ? -1
		       : spec_write(&context->spec, err);
}

static bool same_hosts(const struct strings *one, const struct strings *two)
{
	size_t i;

	if (one->count != two->count)
		return false;
	for (i = 0; i < one->count; i++)
		if (strcmp(one->items[i], two->items[i]) != 0)
			return false;
	return true;
}

/* Forgets the host keys: a new machine has a new key, maybe at an old
 * address. */
static void forget_keys(const struct run_context *context)
{
	char *path = hosts_known_path(store_folder(context->deps->store),
				      context->spec.job_id);

	unlink(path);
	free(path);
}

int run_context_settle(struct run_context *context,
		       struct allocation *allocation, struct arena *mem,
		       struct error *err)
{
	const struct strings before = context->spec.hosts.names;
	json_t *outputs;
	bool made = false;
	int ret;

	if (allocation_ensure(allocation, &outputs, &made, err) < 0)
		return -1;
	ret = spec_set_outputs(&context->spec, outputs, mem, err);
	json_decref(outputs);
	if (ret < 0)
		return -1;
	if (!context->spec.hosts.names.count)
		return error_set(err, ERROR_TRY_AGAIN,
				 "the machines have no reachable address");
	if (made)
		forget_keys(context);
	if (made || !same_hosts(&before, &context->spec.hosts.names))
		return move(context, mem, err);
	return 0;
}

static int open_logs(struct run_context *context, struct error *err)
{
	for (size_t i = 0; i < context->spec.topology.count; i++) {
		const struct task_place *task =
			&context->spec.topology.tasks[i];

		context->logs[i] = log_writer_open(context->spec.folder,
						   task_type_name(task->type),
						   task->index, err);
		if (!context->logs[i])
			return -1;
	}
	return 0;
}

void run_context_begin(struct run_context *context, int64_t max_running_ms)
{
	const struct attempt_deps deps = {
		.spec = &context->spec,
		.loop = context->deps->loop,
		.backend = context->backend,
		.tasks = context->tasks,
		.max_running_ms = max_running_ms,
	};
	struct error err = { 0 };
	int ready = open_logs(context, &err);

	for (size_t i = 0; i < context->spec.topology.count; i++)
		context->tasks[i] =
			(struct task_record){ .trial = context->trial };
	attempt_free(context->attempt);
	context->attempt = attempt_new(&deps, &hooks, context);
	attempt_begin(context->attempt);
	if (ready < 0)
		attempt_fail(context->attempt, err.text);
}

static void close_logs(struct run_context *context)
{
	for (size_t i = 0; context->logs && i < context->spec.topology.count;
	     i++) {
		log_writer_close(context->logs[i]);
		context->logs[i] = NULL;
	}
}

void run_context_end(struct run_context *context)
{
	for (size_t i = 0; i < context->spec.topology.count; i++)
		context->tasks[i].lost_bytes =
			log_writer_lost(context->logs[i]);
	close_logs(context);
}

int run_context_reconcile(struct run_context *context, struct error *err)
{
	int ret = open_logs(context, err);

	if (ret == 0)
		ret = hosts_reconcile(context->backend, err);
	close_logs(context);
	return ret;
}

void run_context_done(struct run_context *context)
{
	close_logs(context);
	recorder_done(&context->recorder);
	attempt_free(context->attempt);
	run_context_leave(context);
	ports_return(context->ports);
}
