/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The context of an attempt: a specification with ports, logs, a backend, and
 * the records of its tasks, stored as they change.  All attempts of a run use
 * one context, one after the other; each hyperparameter trial has its own.
 */
#ifndef JOBRUN_RUN_CONTEXT_H
#define JOBRUN_RUN_CONTEXT_H

#include <sys/resource.h>

#include "core/supervise/allocation.h"
#include "core/supervise/attempt.h"
#include "core/log/log.h"
#include "core/process/reaper.h"
#include "core/supervise/recorder.h"

/* Borrowed from the process. */
struct run_context_deps {
	struct store *store;
	struct loop *loop;
	struct reaper *reaper;
	const struct rlimit *no_files; /* the limit for tasks */
};

/* The owner sets the members up to `arg` and zeroes the rest. */
struct run_context {
	const struct run_context_deps *deps;
	struct run_spec spec;         /* where the logs go: spec.folder */
	const struct run_record *run; /* the run that the tasks belong to */
	int trial;                    /* 0: not a trial */
	/* attempt_state() of `attempt` has changed */
	void (*state_changed)(void *arg);
	void (*ended)(void *arg); /* `attempt` is final */
	/* Reports how many of its hosts are ready; or NULL. */
	void (*progress)(void *arg, size_t ready, size_t count);
	/* Reports which host waits for devices there, and for whom; NULL: none
	 * does any more.  Or NULL. */
	void (*waits)(void *arg, const char *what);
	void *arg;

	struct attempt *attempt; /* NULL: none has begun */
	struct recorder recorder;
	/* May be set before run_context_open() to a backend on the same hosts
	 * that another context no longer needs: then that is reused
	 * (hosts_move()). */
	struct backend *backend;
	struct port_leases *ports;
	struct task_record
		*tasks; /* in the arena given to run_context_open() */
	struct log_writer **logs;
};

/* Chooses ports, or on hosts a name for the run there, and writes the
 * specification into the folder. */
int run_context_open(struct run_context *context, struct arena *mem,
		     struct error *err);

/*
 * To be called between attempts: makes the missing machines, and uses those.
 * Runs the loop; see allocation_ensure().
 */
int run_context_settle(struct run_context *context,
		       struct allocation *allocation, struct arena *mem,
		       struct error *err);

/* Begins an attempt, or the next one after a final one.  A failure to begin is
 * an end like others. */
void run_context_begin(struct run_context *context, int64_t max_running_ms);

/* To be called after the end of an attempt: its logs are complete and closed,
 * and lost output is counted in the records, which are not stored yet. */
void run_context_end(struct run_context *context);

/* The same with the logs of the last attempt opened again, for what the run may
 * have left on hosts: hosts_reconcile(). */
int run_context_reconcile(struct run_context *context, struct error *err);

/* To be called after the last attempt: releases where it ran. */
void run_context_leave(struct run_context *context);

void run_context_done(struct run_context *context);

#endif
