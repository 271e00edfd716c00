/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at runs that others have started: by their job file, or by the labels
 * that jobrun gave them.  They are recorded in a store that is made for this
 * command and removed with it, beside the store here, which stays as it is:
 * looking adopts nothing.
 */
#ifndef JOBRUN_VISIT_H
#define JOBRUN_VISIT_H

#include "cmd/jobrun/ui/session.h"

struct jobs;

/* The session that has the newest run of a job: that of the visit for a visited
 * run, else this one. */
struct session *visit_of(struct session *session, const char *job_id);
/* The visit's own session, or NULL. */
struct session *visit_session(struct session *session);

/* Finds the runs of the jobs where these run; `*found` is their number.  A run
 * that is another project's is not among them: `other` then says whose. */
int visit_jobs(struct session *session, const struct jobs *jobs, size_t *found,
	       struct error *other, struct error *err);

/* Which jobs a visit is about. */
struct visit_wish {
	bool (*wants)(const void *arg, const char *job_id);
	const void *arg;
};

/* Finds the runs that others have started and that go on or are not known here,
 * by their labels, in the default places of all providers. */
int visit_all(struct session *session, const struct visit_wish *wish,
	      struct error *err);
/* The same with the state of each, in a process of its own: places that do not
 * answer are given up, which is reported once. */
int visit_survey(struct session *session, const struct visit_wish *wish,
		 struct error *err);
/* Whether visited runs need no look of their own. */
bool visit_is_fresh(const struct session *session);

/* Whether a visited run has ended, which its record does not say before the
 * first look; false for runs of this machine. */
bool visit_has_ended(struct session *session, const struct run_record *run);
/* Removes the store; for session_close(). */
void visit_end(struct session *session);

#endif
