/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One attempt at a run, from nothing to the end of all its tasks:
 *
 *	PREPARING  the backend prepares: packages, `setup`
 *	RUNNING    all tasks were started
 *	ending     the first reason to end counts; SIGTERM, grace, SIGKILL
 *	final      nothing of it runs any more
 *
 * It decides what the end of a task means and writes the tasks' records.
 * Where tasks run is the backend's business, storing the records its owner's,
 * and so is what follows: another attempt, or the end of the run.  One event
 * loop can have several.
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

/* All borrowed, to outlive the attempt. */
struct attempt_deps {
	const struct run_spec *spec;
	struct loop *loop;
	struct backend
		*backend; /* is attached to this attempt until it has ended */
	struct task_record *tasks; /* one each; reset when it begins */
	int64_t max_running_ms;    /* 0: no limit */
};

/* From the loop or from within a call. */
struct attempt_hooks {
	/* The record of a task, and attempt_state(), have changed. */
	void (*task_changed)(void *arg, size_t ordinal);
	void (*state_changed)(void *arg);
	/* It is final; it may be freed. */
	void (*ended)(void *arg);
};

struct attempt *attempt_new(const struct attempt_deps *deps,
			    const struct attempt_hooks *hooks, void *arg);
/* Only before it has begun, or when it is final. */
void attempt_free(struct attempt *attempt);

/* Begins to prepare.  A failure to prepare is an end like others. */
void attempt_begin(struct attempt *attempt);

/* Asks for the end: with the job's grace, or `now`. */
void attempt_cancel(struct attempt *attempt, const char *why, bool now);
/* The same for something that went wrong outside of it. */
void attempt_fail(struct attempt *attempt, const char *why);

/* And for machines that are gone. */
void attempt_lose(struct attempt *attempt, const char *why);

enum run_state attempt_state(const struct attempt *attempt);

/* The outcome of an attempt that is final, or is ending: cause and why, so
 * far. */
struct attempt_outcome attempt_outcome(const struct attempt *attempt);

#endif
