/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs of a cluster, stored in its directory: what any machine that reaches
 * it knows of them, long after Slurm has forgotten the job.
 *
 *	bin/jobrun-ID			the program that starts tasks
 *	runs/JOBID/.source-DIGEST/what was shipped
 *	runs/JOBID/NAME/		a run; it appears with all of
 *	  run.json			the job, its digest and so on
 *	  spec.json			the tasks' instructions (core/spec/spec.h)
 *	  secrets.json			values; 0600; see core/task/task_secrets.h
 *	  job.sh			the batch script
 *	  packages/			unpacked
 *	  trials.json			values (core/trial/trial_spec.h), if it is a
 *					job array
 *	and later
 *	  job				a link: the number of the job that has it
 *	  attempts/N/			0, 1 …:
 *	    logs/, tasks/		see core/task/task_runner.h
 *	    begun, status, next		see attempts.h
 *	    srun.err			the messages of srun
 *	  output/			the program's output files
 *	  trials/K/			of a job array: each trial has attempts/
 *					and output/ of its own; see array.h
 *	  slurm.out			the messages of sbatch and srun
 */
#ifndef JOBRUN_RUNS_H
#define JOBRUN_RUNS_H

#include <jansson.h>

#include "core/base/alloc.h"
#include "providers/slurm/cluster.h"

/* All strings live in the arena that it was read into. */
struct slurm_run {
	const char *job_id;
	const char *name;
	int number;          /* 1, 2 … among the job's runs */
	const char *digest;  /* of the job; see job_was_run() */
	const char *digest2; /* NULL: made by an older jobrun */
	const char *comment;
	const char *set;      /* the set that it was applied in, or NULL */
	const char *origin;   /* see core/job/origin.h; or NULL */
	const char *revision; /* see core/job/revision.h; or NULL */
	const char *owner;    /* its owner, see store_owner(); or NULL */
	/* the Slurm job that runs it, once that began; or NULL */
	const char *id;
	int restart; /* the last attempt that began; -1: none */
	/* of that attempt, or of an array; -1: it has not ended, or the script
	 * could not record its end */
	int status;
	int cleanup; /* enum cleanup */
	int64_t create_time_ms;
	json_t *properties; /* as planned; owned by the list */
};

struct slurm_runs {
	struct slurm_run *items; /* by job and number */
	size_t count;
};

/* Reads the runs of one job, or of all if `job_id` is NULL, in one call. */
int runs_read(struct cluster *cluster, const char *job_id, struct arena *mem,
	      struct slurm_runs *out, struct error *err);
/* Parses the output of that call. */
int runs_parse(char *text, struct arena *mem, struct slurm_runs *out,
	       struct error *err);
void runs_done(struct slurm_runs *runs);

/* The contents of run.json; returns new. */
json_t *run_json(const struct slurm_run *run);

#endif
