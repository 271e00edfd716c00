/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resources that a job asks Slurm for.  The tasks of one role form a
 * component: some nodes, each with a task for every process of the program
 * there and with the resources of the role's machine type.  Roles with the same
 * request share a component; if they differ, the job is heterogeneous
 * (slurm.schedmd.com/heterogeneous_jobs.html).  Components are in the order of
 * the run's tasks, so that a task's ordinal is its rank.
 */
#ifndef JOBRUN_REQUEST_H
#define JOBRUN_REQUEST_H

#include "core/job/machines.h"
#include "core/provider/provider.h"
#include "providers/slurm/slurm_block.h"

struct slurm_component {
	long nodes;
	long tasks;         /* on each node: its processes */
	unsigned cpus;      /* per task; 0: the partition's default */
	unsigned memory_mb; /* per node; 0: the partition's default */
	bool all_memory;    /* all memory of the node, which is not shared */
	const char *gres;   /* "gpu:t4:2", or NULL */
};

struct slurm_request {
	struct slurm_component components[ROLE_COUNT];
	size_t count;
	const struct slurm_block *block; /* the job's; never NULL */
	long limit_s;                    /* 0: not requested */
	long priority;                   /* 0: Slurm's default */
	/* Elements of a job array, 1 to `trials`, so many at a time; 0: no
	 * array. */
	long trials;
	long at_a_time;
	/* after the loss of a node; set by slurm_job_make() */
	enum slurm_requeue requeue;
};

/* Lives in `mem`, borrows from the job.  Sets `missing` to what the file would
 * have to say differently, or to NULL. */
int slurm_request_make(const struct job *job, const struct catalogue *catalogue,
		       struct arena *mem, struct slurm_request *out,
		       const char **missing, struct error *err);

/* The variables of sbatch that a site or a user may have set, for options that
 * the file does not set; NULL-terminated.  In `mem`. */
const char *const *slurm_variables(const struct slurm_request *request,
				   struct arena *mem);
/* Slurm counts minutes: the seconds that it adds to a limit. */
long slurm_limit_rest(long limit_s);

/* {"partition", "timeLimit", "nodes": ["1 of 4 CPUs, 15 GB", …]}: for plans;
 * returns new. */
json_t *slurm_request_json(const struct slurm_request *request);

#endif
