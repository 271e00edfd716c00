/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries out a plan, in parallel up to a limit.  An action starts when its
 * needs have succeeded.  After a job's first hard failure no more of its
 * actions start, and those in progress finish.  A run is started and then
 * followed to its end, unless detached.
 *
 * A job that is after another one starts when the other's run has ended, which
 * must be followed for that.
 *
 * A replaced resource is deleted before its needs are, and created after them:
 * a run is cancelled, its machine deleted and made, the run started.
 *
 * The executor's own threads make the provider calls; everything else, the
 * callbacks too, happens in the loop's thread.
 */
#ifndef JOBRUN_EXECUTOR_H
#define JOBRUN_EXECUTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "core/apply/journal.h"
#include "core/base/error.h"
#include "core/base/loop.h"
#include "core/plan/plan.h"

struct executor;

enum action_phase {
	PHASE_WAITING, /* for the actions before it */
	PHASE_CALLING, /* the provider */
	PHASE_RETRYING,
	PHASE_FOLLOWING, /* created; until it is as wanted, or has ended */
	/* `err` says why the journal lacks the resource, if it does */
	PHASE_DONE,
	PHASE_FAILED, /* `err` says why */
	/* Never started, because another failed.  `err`, if not NULL, says
	 * which job it is after. */
	PHASE_SKIPPED,
};

struct executor_options {
	size_t parallel; /* calls at once; 0: 16 */
	bool detach;     /* a run is done as soon as it is started */
	/* also wait for resources that are already as wanted */
	bool settle;
	/* The most tries of a call; 0: 5.  A call that follows a run gets four
	 * times as many, as the run goes on whether we see it or not. */
	int tries;
	/* pause before the second try; doubles up to 30 s.  0: 500 */
	int retry_ms;
	/* Returns an open context for a provider of the plan. */
	void *(*context)(void *arg, const struct provider *provider);
	/* Reports that an action entered a phase.  `status` is the run's, once
	 * DONE. */
	void (*phase)(void *arg, const struct action *action,
		      enum action_phase phase, const struct run_status *status,
		      const struct error *err);
	/* Reports that the run or resource waits for something else than
	 * before: "it is CREATING".  May be NULL. */
	void (*waits)(void *arg, const struct action *action, const char *what);
	/* Reports what a call that has succeeded could not do.  May be NULL. */
	void (*lacks)(void *arg, const struct action *action, const char *what);
	/* Asked before an action starts whose job has waited for another one.
	 * False: somebody has cancelled the job meanwhile.  May be NULL. */
	bool (*starts)(void *arg, const struct action *action);
	/* Reports that only followed runs are left of the job: from now on
	 * another process may change it.  May be NULL. */
	void (*settled)(void *arg, const struct plan_job *job);
	void *arg;
	/* Receives intents and outcomes; NULL: they are not recorded. */
	const struct journal *journal;
};

/* Borrows plan, loop and options until executor_free(). */
struct executor *executor_new(const struct plan *plan, struct loop *loop,
			      const struct executor_options *options,
			      struct error *err);
/* Waits for the calls in progress and drops those queued.  Must not be called
 * from `phase`. */
void executor_free(struct executor *executor);

/* Starts the plan; the loop does the rest and is stopped when all is done. */
int executor_start(struct executor *executor, struct error *err);

/*
 * Starts nothing more and asks the followed runs to end, with `now` (the second
 * request) without their grace period.  The loop goes on until they have ended.
 */
void executor_cancel(struct executor *executor, bool now);

/* Cancels a job that waits for another one: nothing of it starts.  Jobs that
 * are after it are skipped, unless any end lets them start. */
void executor_drop(struct executor *executor, const char *job_id);

/*
 * Starts nothing more and stops following the runs that go on without us, which
 * count as done; `leaves` is asked for each followed run.  Everything else ends
 * as by executor_cancel(), which may still be called later.
 */
void executor_leave(struct executor *executor,
		    bool (*leaves)(void *arg, const struct action *action),
		    void *arg);

/* To be called after the loop.  Returns 0 if every action was done and every
 * run succeeded; else -1 with the first error. */
int executor_result(const struct executor *executor, struct error *err);

#endif
