/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does what a plan says, in parallel up to a bound; an action starts when its
 * needs have succeeded; after the first hard failure of a job no more of its
 * actions start, and those under way finish.  A run is started and then waited
 * for to its end, unless detached.
 *
 * A replaced resource is deleted before its needs are, and created after them:
 * a run is cancelled, its machine deleted and made, the run started.
 *
 * Provider calls are made from threads of the executor's own; everything
 * else, the callbacks too, happens in the loop's thread.
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
	PHASE_WAITING, /* for those before it */
	PHASE_CALLING, /* the provider */
	PHASE_RETRYING,
	PHASE_FOLLOWING, /* created; until it is as wanted, or ended */
	PHASE_DONE,      /* `err` says why the journal lacks what was made */
	PHASE_FAILED,    /* `err` says why */
	PHASE_SKIPPED,   /* never started, because another failed */
};

struct executor_options {
	size_t parallel; /* calls at once; 0: 16 */
	bool detach;     /* a run is done when it is started */
	bool settle;     /* what is as wanted is waited for, too */
	/* How often a call is tried; 0: 5.  Four times as often while a run is
	 * followed: it goes on, whatever we can see. */
	int tries;
	int retry_ms; /* before the second; doubles to 30 s.  0: 500 */
	/* An open context for each provider of the plan. */
	void *(*context)(void *arg, const struct provider *provider);
	/* A phase was entered.  `status` is the run's, once it is DONE. */
	void (*phase)(void *arg, const struct action *action,
		      enum action_phase phase, const struct run_status *status,
		      const struct error *err);
	/* The run or resource waits for another thing than before: "it is
	 * CREATING".  May be NULL. */
	void (*waits)(void *arg, const struct action *action, const char *what);
	/* Only runs to follow are left of the job: another process may change
	 * it from now on.  May be NULL. */
	void (*settled)(void *arg, const struct plan_job *job);
	void *arg;
	/* Where intents and outcomes are written; NULL: nowhere. */
	const struct journal *journal;
};

/* Borrows plan, loop and options for its life. */
struct executor *executor_new(const struct plan *plan, struct loop *loop,
			      const struct executor_options *options,
			      struct error *err);
/* Waits for the calls under way; starts none of those in the queue.  Do not
 * call it from `phase`. */
void executor_free(struct executor *executor);

/* Starts; the loop does the rest and is stopped when all is done. */
int executor_start(struct executor *executor, struct error *err);

/*
 * Starts nothing more and asks the runs that are followed to end, the second
 * time (`now`) without their grace.  The loop goes on until they have ended.
 */
void executor_cancel(struct executor *executor, bool now);

/*
 * Starts nothing more and leaves the runs that go on without us, as `leaves`
 * says of each that is followed: they are done.  All else ends as by
 * executor_cancel(), which may be called later, too.
 */
void executor_leave(struct executor *executor,
		    bool (*leaves)(void *arg, const struct action *action),
		    void *arg);

/* After the loop: 0 if every action was done and every run succeeded; else
 * -1 with the first error. */
int executor_result(const struct executor *executor, struct error *err);

#endif
