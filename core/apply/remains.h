/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a job's resources at a provider by their labels, to delete them without
 * the job file.
 */
#ifndef JOBRUN_REMAINS_H
#define JOBRUN_REMAINS_H

#include "core/provider/listing.h"
#include "core/plan/plan.h"
#include "core/provider/provider.h"

struct remains {
	const struct provider *provider;
	/* Only its id, provider and digest are known.  Dependencies come from
	 * the kinds: each kind needs all before it. */
	struct job *job;
	struct resources *desired;
	struct resource *observed;
};

/* Reads the job's resources among `all`, in their present state.  The caller
 * passes `out` to remains_done(), also after a failure. */
int remains_read(const struct provider *provider, void *ctx,
		 const struct listing *all, const char *job_id,
		 struct remains *out, struct error *err);
void remains_done(struct remains *remains);

/* Whether the job has no resources. */
bool remains_are_none(const struct remains *remains);
/* The run that is not over, or NULL. */
const struct resource *remains_live_run(const struct remains *remains);

/* Leaves out all but the run if another owner's run uses one of the resources:
 * returns what is to be said about that, borrowed, else NULL. */
const char *remains_leave_held(struct remains *remains);

/* Adds the deletion of the resources to the plan, which borrows them. */
void remains_plan(const struct remains *remains, const char *reason,
		  struct plan *plan);

#endif
