/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the tasks of a run execute, and how they are started, followed and
 * ended there: as children of this process (children.h), or on hosts reached
 * over the network.  A backend follows orders and reports; its owner
 * (attempt.h) decides what the end of a task means.
 *
 *	prepare ──► prepared        once: packages, `setup`, connections
 *	start ────► task_started …  all tasks
 *	            task_ended …
 *	finish ───► finished        nothing of the tasks runs any more
 *	start ────► …               again, for another attempt
 *
 * Everything happens in one thread and its event loop.  No call blocks for
 * long.  Reports come from the loop or from within a call, at any time between
 * attaching an owner and `finished`.
 */
#ifndef JOBRUN_BACKEND_H
#define JOBRUN_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/spec/attempt_outcome.h"

/* In place of a task's ordinal: all tasks, and `setup`. */
#define BACKEND_ALL SIZE_MAX

/* The reports of a backend.  Strings are valid during the call. */
struct backend_owner {
	/* Preparing has ended, successfully if `why` is NULL; else the log of
	 * the task `ordinal` has the last words.  No process of it is left. */
	void (*prepared)(void *arg, size_t ordinal, const char *why);
	/* Reported instead if preparing was impossible: a host that the run had
	 * before is not available again (OUTCOME_LOST), another owner's run is
	 * there (OUTCOME_HELD), or the host can't be reached or entered
	 * (OUTCOME_AWAY, OUTCOME_DENIED). */
	void (*not_prepared)(void *arg, size_t ordinal,
			     enum attempt_cause cause, const char *why);
	/* `pid` is on the task's machine. */
	void (*task_started)(void *arg, size_t ordinal, int64_t pid);
	/* The task will not run; later ones may not have been tried. */
	void (*task_not_started)(void *arg, size_t ordinal, const char *why);
	/* With a status of waitpid(). */
	void (*task_ended)(void *arg, size_t ordinal, int status);
	/* The task's host was preempted, is cut off or dead.  Nobody knows
	 * whether or how the task ended; no other report of it follows. */
	void (*task_lost)(void *arg, size_t ordinal, const char *why);
	/* Nothing is left running, and all output is in the logs. */
	void (*finished)(void *arg);
};

struct backend;

struct backend_ops {
	/* Does what has not been done yet, and reports `prepared` unless it
	 * returns -1. */
	int (*prepare)(struct backend *backend, struct error *err);
	/* Starts every task, and reports on each, failures included. */
	void (*start)(struct backend *backend);
	/* Sends a signal to all processes that a task has started; does nothing
	 * if it is not running.  SIGTERM also reaches stopped ones.  With
	 * BACKEND_ALL, preparing is stopped too, which is reported. */
	void (*signal)(struct backend *backend, size_t ordinal, int number);
	/* Kills what is left, saves what the tasks have made, and reports
	 * `finished`: see `grace_ms`.  If it can't reach something for many
	 * seconds, it says so on stderr and gives up. */
	void (*finish)(struct backend *backend);
	/* While it finishes: limits the time for what is still to be saved.
	 * NULL: nothing is saved that could take long. */
	void (*hurry)(struct backend *backend, int64_t grace_ms);
	/* To be called after `finished`, or before `prepare`. */
	void (*free)(struct backend *backend);
};

/* The first member of every kind of backend. */
struct backend {
	const struct backend_ops *ops;
	const struct backend_owner *owner; /* set by whoever attaches to it */
	void *owner_arg;
	/* Set by the owner before `finish`: how long saving may take after a
	 * request to end.  -1: as long as needed. */
	int64_t grace_ms;
};

#endif
