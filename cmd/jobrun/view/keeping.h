/* SPDX-License-Identifier: Apache-2.0 */
/* A detached apply of jobs that are after others: this process goes on without
 * its caller, who is let go once the first runs have started. */
#ifndef JOBRUN_KEEPING_H
#define JOBRUN_KEEPING_H

#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/ui/unattended.h"
#include "cmd/jobrun/view/leaving.h"
#include "cmd/jobrun/view/tally.h"
#include "core/apply/executor.h"

struct keeper {
	const struct session *session;
	struct tally *tally;
	struct loop *loop;
	struct unattended *caller; /* NULL: this process is the caller's */
	size_t to_begin;    /* runs that start before the caller is let go */
	bool *begun, *over; /* by index of the action */
	bool failed;        /* one of these did not start */
	struct executor *executor;
};

/* Borrows all that is given.  Without a caller, only records which jobs
 * wait. */
void keeping_begin(struct keeper *it, const struct session *session,
		   struct tally *tally, struct loop *loop,
		   struct leaving *leaving, struct unattended *caller);
void keeping_done(struct keeper *it);

/* From now on jobs that somebody cancels while they wait are dropped. */
void keeping_attach(struct keeper *it, struct executor *executor);
/* To be called from the executor's `starts`: claims the job. */
bool keeping_may_start(struct keeper *it, const struct action *action);
/* To be called from the executor's `phase` and `settled`. */
void keeping_phase(struct keeper *it, const struct action *action,
		   enum action_phase phase, const struct error *err);
void keeping_settled(struct keeper *it, const struct plan_job *job);

/* Says that a run has started that nobody follows. */
void keeping_say_started(struct app *app, const char *name);

#endif
