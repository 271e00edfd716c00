/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One attempt at a run, from nothing to the end of all its tasks:
 *
 *	PREPARING  the backend prepares: packages, `setup`
 *	RUNNING    all tasks were started
 *	ending     the first reason to end counts; SIGTERM, grace, SIGKILL
 *	final      nothing of it runs any more
 *
 * It decides what the end of a task means and fills in the tasks' records.  The
 * backend knows where tasks run.  The owner stores the records, and decides
 * what follows: another attempt, or the end of the run.  One event loop can
 * have several attempts.
 */
#ifndef JOBRUN_ATTEMPT_H
#define JOBRUN_ATTEMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/loop.h"
#include "core/supervise/backend.h"
#include "core/spec/attempt_outcome.h"
#include "core/spec/spec.h"
#include "core/store/store.h"

struct attempt;

/* All borrowed; they must outlive the attempt. */
struct attempt_deps {
	const struct run_spec *spec;
	struct loop *loop;
	struct backend
		*backend; /* is attached to this attempt until it has ended */
	struct task_record *tasks; /* one per task; reset when it begins */
	int64_t max_running_ms;    /* 0: no limit */
};

/* Called from the loop or from within a call. */
struct attempt_hooks {
	/* The record of a task, or attempt_state(), has changed. */
	void (*task_changed)(void *arg, size_t ordinal);
	void (*state_changed)(void *arg);
	/* The attempt is final, and may be freed. */
	void (*ended)(void *arg);
};

struct attempt *attempt_new(const struct attempt_deps *deps,
			    const struct attempt_hooks *hooks, void *arg);
/* Only before it has begun, or when it is final. */
void attempt_free(struct attempt *attempt);

/* Begins to prepare.  A failure to prepare is an end like others. */
void attempt_begin(struct attempt *attempt);

/* Asks the attempt to end: with the job's grace period, or `now`. */
void attempt_cancel(struct attempt *attempt, const char *why, bool now);
/* The same because something outside the attempt has failed. */
void attempt_fail(struct attempt *attempt, const char *why);

/* The same because machines are gone. */
void attempt_lose(struct attempt *attempt, const char *why);

enum run_state attempt_state(const struct attempt *attempt);

/* The outcome of an attempt that is final or ending: cause and reason, so
 * far. */
struct attempt_outcome attempt_outcome(const struct attempt *attempt);

#endif
