/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the executor, for its own files only.  A task takes one
 * action through its steps (execution.c); the executor gives each its turn, and
 * takes back the calls that are done (executor.c).
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
	bool failed;     /* nothing more of it is started */
	bool starts;     /* and not only deletes */
	bool self_made;  /* its run has made what it needs */
	size_t changing; /* tasks that are not yet settled */
};

/* An action on its way. */
struct execution {
	struct work work; /* the first member: the pool hands it back */
	struct call call;
	struct executor *executor;
	const struct action *action;
	const enum step *step; /* the one it is at */
	enum action_phase phase;
	struct execution *next; /* in the ready list */
	bool ready;             /* is in it */

	struct execution **after; /* executions that need this one */
	size_t after_count;
	size_t needs_left;  /* of its needs, not yet done */
	size_t holds_left;  /* replaced dependents, not yet deleted */
	bool holds;         /* this one was counted in those it needs */
	bool over_replaced; /* something below it is replaced */
	bool doomed;        /* one before it will never be done */
	struct job_state *job;

	bool started; /* a call was made */
	bool settled; /* it changes nothing any more */
	bool intends; /* the call under way writes the intent first */
	bool intent;  /* it was written, the outcome was not */
	char once[INTENT_ONCE_MAX]; /* from the journal, or "" */
	bool made; /* created or changed: it is as wanted now */
	bool calling;
	int tries;             /* of this call */
	char waits_for[160];   /* as it was last told */
	enum cancelling asked; /* what its provider was told */
	struct loop_event *timer;
	struct loop_event *watch;
	int fd;     /* from the kind's watch, or -1 */
	bool woken; /* by fd */

	struct error lost; /* why the journal lacks what was made, or "" */
};

struct executor {
	const struct plan *plan;
	struct loop *loop;
	const struct executor_options *options;
	struct pool *pool;
	struct execution *executions; /* by the index of their action */
	size_t count;
	struct job_state *jobs; /* by the index of the job in the plan */
	size_t left;            /* not yet done, failed or skipped */
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

/* To have its turn at the next executor_settle(). */
void execution_make_ready(struct execution *it);
/* Nothing under way for it: no call, no timer, no descriptor. */
bool execution_is_idle(const struct execution *it);
/* Takes the steps up to the next that takes time. */
void execution_advance(struct execution *it);
/* Its call came back. */
void execution_call_done(struct execution *it);
void execution_stop_resting(struct execution *it); /* timer and watch */
void execution_stop_watching(struct execution *it);

/* Handles all consequences of whatever happened. */
void executor_settle(struct executor *executor);

#endif
