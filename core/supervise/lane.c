/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/lane.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/supervise/children.h"
#include "core/topology/contract.h"
#include "core/supervise/hosts.h"

static void on_task_changed(void *arg, size_t ordinal)
{
	struct lane *lane = arg;

	lane->tasks[ordinal].lost_bytes = log_writer_lost(lane->logs[ordinal]);
	recorder_task(&lane->recorder, ordinal);
}

static void on_state_changed(void *arg)
{
	struct lane *lane = arg;

	lane->state_changed(lane->arg);
}

static void on_ended(void *arg)
{
	struct lane *lane = arg;

	lane->ended(lane->arg);
}

static const struct attempt_hooks hooks = {
	.task_changed = on_task_changed,
	.state_changed = on_state_changed,
	.ended = on_ended,
};

/* Written down for `env` and for followers. */
static int lease_ports(struct lane *lane, struct arena *mem, struct error *err)
{
	size_t count = topology_port_count(&lane->spec.topology);
	int *ports = arena_alloc(mem, count * sizeof(*ports));

	lane->ports = ports_lease(SPEC_FIRST_PORT, count, ports, err);
	if (!lane->ports)
		return -1;
	topology_set_ports(&lane->spec.topology, ports);
	contract_share(&lane->spec.topology, mem);
	return spec_write(&lane->spec, err);
}

/* A run on hosts has no ports here, but a name of its own there. */
static int name_run(struct lane *lane, struct arena *mem, struct error *err)
{
	unsigned long long random;

	if (*lane->spec.hosts.nonce)
		return 0;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return error_errno(err, "cannot get a random number");
	lane->spec.hosts.nonce = arena_printf(mem, "%016llx", random);
	return spec_write(&lane->spec, err);
}

static void on_progress(void *arg, size_t ready, size_t count)
{
	struct lane *lane = arg;

	if (lane->progress)
		lane->progress(lane->arg, ready, count);
}

/* Sets the lane's crew. */
static int make_crew(struct lane *lane, struct arena *mem, struct error *err)
{
	const struct children_place here = {
		.spec = &lane->spec,
		.loop = lane->place->loop,
		.reaper = lane->place->reaper,
		.logs = lane->logs,
		.no_files = lane->place->no_files,
	};
	const struct hosts_place there = {
		.spec = &lane->spec,
		.mem = mem,
		.loop = lane->place->loop,
		.reaper = lane->place->reaper,
		.logs = lane->logs,
		.store = store_folder(lane->place->store),
		.progress = on_progress,
		.arg = lane,
	};

	if (lane->crew)
		hosts_move(lane->crew, &there);
	else if (lane->spec.hosts.names.count)
		lane->crew = hosts_new(&there, err);
	else
		lane->crew = children_new(&here);
	return lane->crew ? 0 : -1;
}

int lane_open(struct lane *lane, struct arena *mem, struct error *err)
{
	bool is_elsewhere = lane->spec.hosts.names.count;
	size_t count = lane->spec.topology.count;

	lane->tasks = arena_alloc(mem, count * sizeof(*lane->tasks));
	lane->logs = arena_alloc(mem, count * sizeof(struct log_writer *));
	if (is_elsewhere && name_run(lane, mem, err) < 0)
		return -1;
	lane->recorder = (struct recorder){ .store = lane->place->store,
					    .loop = lane->place->loop,
					    .run = lane->run,
					    .tasks = lane->tasks,
					    .count = count };
	/* Before the ports are leased: children like low descriptors. */
	if (make_crew(lane, mem, err) < 0)
		return -1;
	return is_elsewhere ? 0 : lease_ports(lane, mem, err);
}

void lane_leave(struct lane *lane)
{
	if (lane->crew)
		lane->crew->ops->free(lane->crew);
	lane->crew = NULL;
}

static int move(struct lane *lane, struct arena *mem, struct error *err)
{
	lane_leave(lane);
	return make_crew(lane, mem, err) < 0 ? -1
					     : spec_write(&lane->spec, err);
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

/* A machine that is new has a new key, maybe at an old address. */
static void forget_keys(const struct lane *lane)
{
	char *path = hosts_known_path(store_folder(lane->place->store),
				      lane->spec.job_id);

	unlink(path);
	free(path);
}

int lane_settle(struct lane *lane, struct allocation *allocation,
		struct arena *mem, struct error *err)
{
	const struct strings before = lane->spec.hosts.names;
	json_t *outputs;
	bool made = false;
	int ret;

	if (allocation_ensure(allocation, &outputs, &made, err) < 0)
		return -1;
	ret = spec_set_outputs(&lane->spec, outputs, mem, err);
	json_decref(outputs);
	if (ret < 0)
		return -1;
	if (made)
		forget_keys(lane);
	if (made || !same_hosts(&before, &lane->spec.hosts.names))
		return move(lane, mem, err);
	return 0;
}

static int open_logs(struct lane *lane, struct error *err)
{
	for (size_t i = 0; i < lane->spec.topology.count; i++) {
		const struct task_place *task = &lane->spec.topology.tasks[i];

		lane->logs[i] = log_writer_open(lane->spec.folder,
						task_type_name(task->type),
						task->index, err);
		if (!lane->logs[i])
			return -1;
	}
	return 0;
}

void lane_begin(struct lane *lane, int64_t max_running_ms)
{
	const struct attempt_place place = {
		.spec = &lane->spec,
		.loop = lane->place->loop,
		.crew = lane->crew,
		.tasks = lane->tasks,
		.max_running_ms = max_running_ms,
	};
	struct error err = { 0 };
	int ready = open_logs(lane, &err);

	for (size_t i = 0; i < lane->spec.topology.count; i++)
		lane->tasks[i] = (struct task_record){ .trial = lane->trial };
	attempt_free(lane->attempt);
	lane->attempt = attempt_new(&place, &hooks, lane);
	attempt_begin(lane->attempt);
	if (ready < 0)
		attempt_fail(lane->attempt, err.text);
}

static void close_logs(struct lane *lane)
{
	for (size_t i = 0; lane->logs && i < lane->spec.topology.count; i++) {
		log_writer_close(lane->logs[i]);
		lane->logs[i] = NULL;
	}
}

void lane_end(struct lane *lane)
{
	for (size_t i = 0; i < lane->spec.topology.count; i++)
		lane->tasks[i].lost_bytes = log_writer_lost(lane->logs[i]);
	close_logs(lane);
}

void lane_done(struct lane *lane)
{
	close_logs(lane);
	recorder_done(&lane->recorder);
	attempt_free(lane->attempt);
	lane_leave(lane);
	ports_return(lane->ports);
}
