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
	/* Its id, provider and digest are known, nothing else; the kinds say
	 * what needs what: each all before it. */
	struct job *job;
	struct resources *desired;
	struct resource *observed;
};

/* Reads what `all` has of the job, as it is now.  `out` is the caller's to
 * give to remains_done(), also after a failure. */
int remains_read(const struct provider *provider, void *ctx,
		 const struct listing *all, const char *job_id,
		 struct remains *out, struct error *err);
void remains_done(struct remains *remains);

/* Nothing of it exists. */
bool remains_are_none(const struct remains *remains);
/* The run that is not over, or NULL. */
const struct resource *remains_live_run(const struct remains *remains);

/* Adds their deletion to the plan, which borrows them. */
void remains_plan(const struct remains *remains, const char *reason,
		  struct plan *plan);

#endif
