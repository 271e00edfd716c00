/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task of a Slurm job step (slurm.schedmd.com/srun.html, "OUTPUT ENVIRONMENT
 * VARIABLES"; heterogeneous_jobs.html).
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/topology/topology_read.h"
#include "providers/slurm/hostlist.h"
#include "providers/slurm/slurm_internal.h"

/*
 * Slurm assigns no ports, though several jobs can share a node: each job uses a
 * range chosen by its number, below the ports that systems give to clients.
 */
#define PORT_FIRST 10000
#define PORT_JOBS 1000
#define PORT_PER_JOB 20

/* A list of nodes, and the number of tasks on each. */
struct layout {
	struct hostlist nodes;
	long *tasks;
	long total;
};

static bool detects(const struct surroundings *at)
{
	return surroundings_get(at, "SLURM_JOB_ID") &&
	       surroundings_get(at, "SLURM_PROCID");
}

static int add_nodes(struct layout *layout, const char *nodes,
		     const char *tasks, struct arena *mem, struct error *err)
{
	size_t before = layout->nodes.count;
	size_t count, i;
	long *all;

	if (hostlist_add(&layout->nodes, nodes, TOPOLOGY_TASK_MAX, mem, err) <
	    0)
		return -1;
	count = layout->nodes.count;
	all = arena_alloc(mem, count * sizeof(*all));
	if (before)
		memcpy(all, layout->tasks, before * sizeof(*all));
	for (i = before; i < count; i++)
		all[i] = 1;
	if (tasks &&
	    hostlist_counts(tasks, all + before, count - before, err) < 0)
		return -1;
	for (i = before; i < count; i++)
		layout->total += all[i];
	layout->tasks = all;
	return 0;
}

/* Reads the components of a heterogeneous job, one after the other. */
static int het_layout(const struct surroundings *at, long groups,
		      struct layout *layout, struct arena *mem,
		      struct error *err)
{
	long i;

	for (i = 0; i < groups; i++) {
		const char *nodes = surroundings_get(
			at,
			arena_printf(mem, "SLURM_JOB_NODELIST_HET_GROUP_%ld",
				     i));
		const char *tasks = surroundings_get(
			at,
			arena_printf(mem, "SLURM_TASKS_PER_NODE_HET_GROUP_%ld",
				     i));

		if (!nodes)
			return error_set(err, ERROR_INVALID,
					 "SLURM_JOB_NODELIST_HET_GROUP_%ld is "
					 "not set",
					 i);
		if (add_nodes(layout, nodes, tasks, mem, err) < 0)
			return error_prefix(err, "component %ld of the job", i);
	}
	return 0;
}

/*
 * Finds the pair of variables with the right sum of tasks: a step over all
 * components of a heterogeneous job also has the variables of one of them.
 */
static int find_layout(const struct surroundings *at, long total,
		       struct layout *out, struct arena *mem, struct error *err)
{
	static const char *const pairs[][2] = {
		{ "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE" },
		{ "SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE" },
		{ "SLURM_NODELIST", "SLURM_TASKS_PER_NODE" },
	};
	const char *size = surroundings_get(at, "SLURM_HET_SIZE");
	long groups = 0;
	size_t i;

	error_set(err, ERROR_INVALID, "SLURM_STEP_NODELIST is not set");
	if (size &&
	    number_parse(size, 1, TOPOLOGY_TASK_MAX, &groups, err) == 0) {
		*out = (struct layout){ 0 };
		if (het_layout(at, groups, out, mem, err) == 0 &&
		    out->total == total)
			return 0;
	}
	for (i = 0; i < COUNT(pairs); i++) {
		const char *nodes = surroundings_get(at, pairs[i][0]);
		const char *tasks = surroundings_get(at, pairs[i][1]);

		if (!nodes)
			continue;
		*out = (struct layout){ 0 };
		if (add_nodes(out, nodes, tasks, mem, err) < 0) {
			error_prefix(err, "%s", pairs[i][0]);
			continue;
		}
		if (out->total == total)
			return 0;
		error_set(err, ERROR_INVALID,
			  "%s and %s are about %ld tasks, SLURM_NTASKS about "
			  "%ld",
			  pairs[i][0], pairs[i][1], out->total, total);
	}
	return -1;
}

static void place(struct topology *out, const char *host, int port, long local)
{
	struct task_place *task = &out->tasks[out->count];

	task->type = TASK_WORKER;
	task->index = (int)out->count++;
	task->host = host;
	task->port = port + 1 + (int)local;
}

/* Places tasks as srun numbers them: node by node ("block"), or in turn
 * ("cyclic"), skipping nodes that are full. */
static void place_tasks(const struct layout *layout, bool cyclic, int port,
			struct arena *mem, struct topology *out)
{
	long turn, local;
	size_t i;

	out->tasks =
		arena_alloc(mem, (size_t)layout->total * sizeof(*out->tasks));
	if (!cyclic) {
		for (i = 0; i < layout->nodes.count; i++)
			for (local = 0; local < layout->tasks[i]; local++)
				place(out, layout->nodes.hosts[i], port, local);
		return;
	}
	for (turn = 0; out->count < (size_t)layout->total; turn++)
		for (i = 0; i < layout->nodes.count; i++)
			if (turn < layout->tasks[i])
				place(out, layout->nodes.hosts[i], port, turn);
}

/* Checks that the layout agrees with this task's own place, which is known. */
static int check_place(const struct surroundings *at,
		       const struct layout *layout,
		       const struct task_place *self, struct error *err)
{
	long node, local;

	if (surroundings_number(at, "SLURM_NODEID", 0,
				(long)layout->nodes.count - 1, &node,
				err) < 0 ||
	    surroundings_number(at, "SLURM_LOCALID", 0, INT_MAX, &local, err) <
		    0)
		return -1;
	if (strcmp(self->host, layout->nodes.hosts[node]) != 0 ||
	    self->local_rank != local)
		return error_set(err, ERROR_INVALID,
				 "task %d should be number %d on '%s', and is "
				 "number %ld on '%s': use srun "
				 "--distribution=block or cyclic",
				 self->index, self->local_rank, self->host,
				 local, layout->nodes.hosts[node]);
	return 0;
}

static int first_port(const struct surroundings *at)
{
	const char *id = surroundings_get(at, "SLURM_JOB_ID");

	return PORT_FIRST +
	       (int)(strtoul(id ? id : "0", NULL, 10) % PORT_JOBS) *
		       PORT_PER_JOB;
}

/* Counts the tasks of the step.  A batch script belongs to no step. */
static int count_tasks(const struct surroundings *at, long *total,
		       struct error *err)
{
	bool step = surroundings_get(at, "SLURM_STEP_NODELIST");
	const char *name = surroundings_get(at, "SLURM_STEP_NUM_TASKS")
				   ? "SLURM_STEP_NUM_TASKS"
				   : "SLURM_NTASKS";

	/* With several components SLURM_NTASKS counts all tasks. */
	if (surroundings_get(at, "SLURM_HET_SIZE") &&
	    surroundings_get(at, "SLURM_NTASKS"))
		name = "SLURM_NTASKS";
	if (!step && !surroundings_get(at, name)) {
		*total = 1;
		return 0;
	}
	if (surroundings_number(at, name, 1, TOPOLOGY_TASK_MAX, total, err) < 0)
		return -1;
	if (!step && *total > 1)
		return error_set(err, ERROR_INVALID,
				 "this is the batch script of the job, not one "
				 "of its %ld tasks: put srun before it",
				 *total);
	return 0;
}

static int read(const struct surroundings *at, struct arena *mem,
		struct topology *out, size_t *self, struct error *err)
{
	const char *name = surroundings_get(at, "CLOUD_ML_JOB_ID");
	const char *distribution = surroundings_get(at, "SLURM_DISTRIBUTION");
	struct topology all = { .names_pools = true, .master_name = "master" };
	struct layout layout;
	long total, rank;

	if (count_tasks(at, &total, err) < 0 ||
	    surroundings_number(at, "SLURM_PROCID", 0, total - 1, &rank, err) <
		    0)
		return -1;
	if (total == 1) {
		const char *host = surroundings_get(at, "SLURMD_NODENAME");

		host = host ? host : at->host;
		topology_from_hosts(&host, 1, mem, &all);
		all.tasks[0].port = first_port(at) + 1;
	} else {
		if (find_layout(at, total, &layout, mem, err) < 0)
			return -1;
		place_tasks(&layout,
			    distribution && text_starts(distribution, "cyclic"),
			    first_port(at), mem, &all);
		topology_rank(&all);
		if (check_place(at, &layout, &all.tasks[rank], err) < 0)
			return -1;
	}
	all.master_port = first_port(at);
	if (!name)
		name = surroundings_get(at, "SLURM_JOB_NAME");
	all.job_id = name ? name : "job";
	*out = all;
	*self = (size_t)rank;
	return 0;
}

const struct topology_reader reader_slurm = {
	.name = "slurm",
	.summary = "SLURM_*, as srun sets them",
	.order = READER_SCHEDULER,
	.detects = detects,
	.read = read,
};
