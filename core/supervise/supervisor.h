/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owns a local run: two processes apart from the one that started it.
 *
 *	guard ── supervisor ── task, task …	each task a process group
 *
 * The supervisor starts the tasks, writes their output, ends them and records
 * what happened.  The guard only waits for it.  If the supervisor is killed,
 * tasks die with it (PR_SET_PDEATHSIG), what they had started falls to the
 * guard, which kills that too and records the run as failed.  If the guard is
 * killed, the supervisor ends the run.  If both are, tasks still die; the
 * rest is found by a mark in its environment by the next command that looks
 * at the run (supervisor_check).
 *
 * Both hold a lock on the file `lock` in the run's folder, which also holds
 * the supervisor's pid: a run is alive as long as the lock is held.  The file
 * `state` there is rewritten at every change, so that others can wait for
 * one with inotify.
 */
#ifndef JOBRUN_SUPERVISOR_H
#define JOBRUN_SUPERVISOR_H

#include <stdbool.h>

#include "core/base/error.h"
#include "core/provider/provider.h"
#include "core/data/object_store.h"
#include "core/spec/spec.h"
#include "core/store/store.h"
#include "core/supervise/left_hosts.h"

/*
 * Adds the record of a run.  From its first moment on `*lock` is held: if we
 * are killed before the run is started, everybody sees that.  The caller
 * closes it.
 */
int supervisor_add(struct store *store, struct run_record *run, int *lock,
		   struct error *err);

/*
 * Starts the run of a record that was just added (its spec with attempt and
 * folder set): `jobrun supervise JOBID ATTEMPT`, in a session of its own.
 * Returns when that process has taken over and has chosen the ports; from
 * then on it alone writes the run's record, and has a copy of `lock`.
 */
int supervisor_start(struct store *store, const struct run_spec *spec, int lock,
		     struct error *err);

/* The two processes themselves; returns their exit status.  Machines that were
 * made for the run are of one of these providers, and its logs are copied to a
 * store that one of these schemes reaches. */
int supervisor_main(const char *job_id, int attempt,
		    const struct provider *const *providers,
		    const struct object_scheme *const *schemes);

/* Asks a run to end, with its grace or `now`.  Ended is success.  1: its
 * processes were stopped, as `err` says, and go on now. */
int supervisor_cancel(struct store *store, const struct run_record *run,
		      bool now, struct error *err);

/*
 * Brings the record of a run up to date: if its processes are gone without
 * having written its end, kills what is left of it and records it as failed.
 * One that never began, because what was to start it was killed, is deleted.
 * A run of another machine whose lock is not seen here is over once nothing
 * was heard of it for three minutes: see heartbeat.h.
 */
int supervisor_check(struct store *store, const struct run_record *run,
		     struct error *err);

/* The hosts on which something of a run that is over may go on, or that have
 * output of it. */
int supervisor_left(struct store *store, const struct run_record *run,
		    struct arena *mem, struct left_hosts *out,
		    struct error *err);
/* Has what may run there ended, and the output fetched, now; waits at most so
 * long.  ERROR_UNREACHABLE, with a line about the first that remains, if one
 * does whose tasks may still run, or with `all` any. */
int supervisor_end_left(struct store *store, const struct run_record *run,
			bool all, int64_t limit_ms, struct error *err);

/* From here on nobody looks after them. */
int supervisor_forget_left(struct store *store, const struct run_record *run,
			   struct error *err);

/* Whether the supervisor of a run that is over still deletes its machines or
 * uploads its logs. */
bool supervisor_releases(struct store *store, const struct run_record *run);

/* How far a run is that is still being prepared, in a few words, or "";
 * false once it is prepared. */
bool supervisor_note(struct store *store, const char *job_id, int attempt,
		     char *out, size_t size);

/* An inotify descriptor that is readable when the run's state has changed;
 * the caller reads and closes it. */
int supervisor_watch(struct store *store, const char *job_id, int attempt,
		     int *fd, struct error *err);

#endif
