/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at runs that another machine has started, by their job file.  They are
 * recorded in a store that is made for this command and removed with it, so
 * that the store here stays as it is: looking adopts nothing.
 */
#ifndef JOBRUN_VISIT_H
#define JOBRUN_VISIT_H

#include "cmd/jobrun/ui/session.h"

struct jobs;

/* Finds the runs of the jobs where these run.  If there are any, the session
 * goes on with a store of them alone, and `*found` is their number.  A run that
 * is another project's is not among them: `other` then says whose. */
int visit_jobs(struct session *session, const struct jobs *jobs, size_t *found,
	       struct error *other, struct error *err);
/* Whether a visited run has ended, which its record does not say before the
 * first look; false for runs of this machine. */
bool visit_has_ended(struct session *session, const struct run_record *run);
/* Removes the store; for session_close(), which has closed it. */
void visit_end(struct session *session);

#endif
