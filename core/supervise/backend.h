/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the tasks of a run run, and how they are started, heard and ended
 * there: as children of this process (children.h), or on hosts that are
 * reached over the network.  A backend does as it is told and reports; what an
 * end of a task means is decided by its owner (attempt.h).
 *
 *	prepare ──► prepared        once: packages, `setup`, connections
 *	start ────► task_started …  all tasks
 *	            task_ended …
 *	finish ───► finished        nothing of the tasks runs any more
 *	start ────► …               again, for another attempt
 *
 * Everything happens in one thread and its event loop.  No call blocks for
 * long.  Reports come from the loop or from within a call, at any time
 * between attaching an owner and `finished`.
 */
#ifndef JOBRUN_BACKEND_H
#define JOBRUN_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/spec/attempt_outcome.h"

/* In place of a task's ordinal: all of them, and `setup`. */
#define BACKEND_ALL SIZE_MAX

/* The reports of a backend.  Texts are valid during the call. */
struct backend_owner {
	/* Preparing has ended, well if `why` is NULL; else the log of the
	 * task `ordinal` has the last words.  Nothing of it runs. */
	void (*prepared)(void *arg, size_t ordinal, const char *why);
	/* Instead, where it could not be: a host that the run had before is not
	 * to be had again (OUTCOME_LOST), or another owner's run is there
	 * (OUTCOME_HELD), or there is no way to it (OUTCOME_AWAY,
	 * OUTCOME_DENIED). */
	void (*not_prepared)(void *arg, size_t ordinal,
			     enum attempt_cause cause, const char *why);
	/* `pid` is of where it runs. */
	void (*task_started)(void *arg, size_t ordinal, int64_t pid);
	/* It will not run; those after it may not have been tried. */
	void (*task_not_started)(void *arg, size_t ordinal, const char *why);
	/* With a status as waitpid() gives it. */
	void (*task_ended)(void *arg, size_t ordinal, int status);
	/* Its host was preempted, is cut off or dead.  How the task ended, or
	 * whether, nobody knows; no other report of it follows. */
	void (*task_lost)(void *arg, size_t ordinal, const char *why);
	/* Nothing is left running, and all output is in the logs. */
	void (*finished)(void *arg);
};

struct backend;

struct backend_ops {
	/* Does what has not been done yet, and reports `prepared`; not if it
	 * returns -1. */
	int (*prepare)(struct backend *backend, struct error *err);
	/* Starts every task, and reports on each; what goes wrong with one is
	 * reported, too. */
	void (*start)(struct backend *backend);
	/* Sends a signal to all that a task has started; to one that is not
	 * running it does nothing.  SIGTERM reaches those that are stopped.
	 * With BACKEND_ALL, preparing goes no further, and is reported. */
	void (*signal)(struct backend *backend, size_t ordinal, int number);
	/* Kills what is left, has kept what the tasks have made, and reports
	 * `finished`: see `grace_ms`.  Where it can't get at
	 * something for many seconds it says so on stderr and gives up. */
	void (*finish)(struct backend *backend);
	/* While it finishes: what is still to be kept has only so long.  NULL:
	 * nothing is kept that could take its time. */
	void (*hurry)(struct backend *backend, int64_t grace_ms);
	/* After `finished`, or before `prepare`. */
	void (*free)(struct backend *backend);
};

/* The first member of every kind of backend. */
struct backend {
	const struct backend_ops *ops;
	const struct backend_owner *owner; /* set by who attaches to it */
	void *owner_arg;
	/* Set by the owner before `finish`: it was asked to end, and what is
	 * still to be kept has so long.  -1: as long as it takes. */
	int64_t grace_ms;
};

#endif
