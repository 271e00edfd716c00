/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which the jobs of one command are planned: those that others
 * are after (jobrun.after) come first. */
#ifndef JOBRUN_JOB_ORDER_H
#define JOBRUN_JOB_ORDER_H

#include "cmd/jobrun/ui/session.h"

/* Whether any of the jobs is after another one. */
bool job_order_has_any(const struct jobs *jobs);

/* Writes the indexes of the jobs to `order`, which has room for them.  Fails if
 * jobs wait for each other, and names them. */
int job_order_make(const struct jobs *jobs, size_t *order, struct error *err);

/*
 * To be called before the job is planned, after those that come before it:
 * adds to `desired` what is missing of the jobs that it is after and that the
 * plan does not run.  Fails if one of them could not be planned.
 */
int job_order_check(const struct session *session, const struct job *job,
		    struct resources *desired, struct error *err);

#endif
