/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the executor, for its own files only. execution.c takes one
 * action through its steps; executor.c gives each execution its turn and
 * collects the finished calls.
 */
#ifndef JOBRUN_EXECUTION_H
#define JOBRUN_EXECUTION_H

#include <stdint.h>

#include "core/apply/executor.h"
#include "core/apply/pool.h"
#include "core/apply/step.h"

enum cancelling {
	CANCEL_NOT,
	CANCEL_GRACE,
	CANCEL_NOW,
};

/* Shared by the executions of one job. */
struct job_state {
	bool failed;     /* start no more of its actions */
	bool starts;     /* some of its actions do more than delete */
	bool self_made;  /* its run has made the resources it needs */
	size_t changing; /* tasks that are not yet settled */
};

/* An action in progress. */
struct execution {
	struct work work; /* the first member: the pool hands it back */
	struct call call;
	struct executor *executor;
	const struct action *action;
	const enum step *step; /* the current step */
	enum action_phase phase;
	struct execution *next; /* in the ready list */
	bool ready;             /* is in the ready list */

	struct execution **after; /* executions that need this one */
	size_t after_count;
	size_t needs_left;  /* its needs that are not done yet */
	size_t holds_left;  /* replaced dependents, not yet deleted */
	bool holds;         /* this one counts in `holds_left` of its needs */
	bool over_replaced; /* something below it is replaced */
	bool doomed;        /* a predecessor will never be done */
	bool dropped;       /* its job was cancelled before it started */
	/* the run of another job that it waited for in vain, or NULL */
	const struct execution *doomed_by;
	struct job_state *job;

	bool started; /* a call was made */
	bool settled; /* makes no more changes */
	bool intends; /* the current call writes the intent first */
	bool intent;  /* the intent was written, its outcome not yet */
	char once[INTENT_ONCE_MAX]; /* from the journal, or "" */
	bool made;            /* created or changed by us, so up to date */
	enum run_state ended; /* how a run ended that this one has followed */
	bool calling;
	int tries;             /* tries of the current call */
	char waits_for[160];   /* as last reported */
	enum cancelling asked; /* what its provider was asked to do */
	struct loop_event *timer;
	struct loop_event *watch;
	int fd;     /* from the kind's watch, or -1 */
	bool woken; /* by fd */

	struct error lost; /* why the journal lacks the new resource, or "" */
};

struct executor {
	const struct plan *plan;
	struct loop *loop;
	const struct executor_options *options;
	struct pool *pool;
	struct execution *executions; /* by the index of their action */
	size_t count;
	struct job_state *jobs; /* by the index of the job in the plan */
	size_t left;            /* executions not yet done, failed or skipped */
	struct execution *ready;
	struct execution **ready_last;
	struct loop_event *pool_event;
	struct loop_event *kick;
	enum cancelling cancelling;
	bool (*leaves)(void *arg, const struct action *action); /* or NULL */
	void *leaves_arg;
	uint64_t random;
	bool skipped;
	bool failed;
	struct error err; /* the first */
};

/* Gives the execution a turn at the next executor_settle(). */
void execution_make_ready(struct execution *it);
/* Whether the execution has no call, timer or descriptor pending. */
bool execution_is_idle(const struct execution *it);
/* Takes steps until one has to wait. */
void execution_advance(struct execution *it);
/* Handles the end of the execution's call. */
void execution_call_done(struct execution *it);
/* removes its timer and watch */
void execution_stop_resting(struct execution *it);
void execution_stop_watching(struct execution *it);

/* Handles all consequences of whatever happened. */
void executor_settle(struct executor *executor);

#endif
