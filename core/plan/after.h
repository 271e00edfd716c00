/* SPDX-License-Identifier: Apache-2.0 */
/* The order of jobs: a job that is `after` others starts when their runs have
 * ended as it asks. */
#ifndef JOBRUN_AFTER_H
#define JOBRUN_AFTER_H

#include <stdbool.h>
#include <stddef.h>

struct action;
struct arena;
struct plan_job;

/* The jobs planned so far: those that others are after come first. */
struct after_jobs {
	const struct plan_job *const *items;
	size_t count;
};

/* Skips the run if a job that it is after has failed already, and is not
 * run again.  `run` is the action of the job's run. */
void after_skip(const struct after_jobs *before, struct action *run,
		struct arena *mem);
/* Adds the runs that the job is after to the needs of its actions, and says so
 * in the reason of its run.  To be called when its actions are final. */
void after_link(const struct after_jobs *before, const struct plan_job *planned,
		struct arena *mem);

/* Whether the action waits for a run of another job that is still to end. */
bool after_waits(const struct action *action);

/* Whether `later`, of another job, may start although the run `before` has
 * failed or was skipped. */
bool after_takes_any_end(const struct action *later,
			 const struct action *before);

#endif
