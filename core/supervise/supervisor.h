/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Owns a local run with two processes, separate from the one that started it.
 *
 *	guard ── supervisor ── task, task …	each task a process group
 *
 * The supervisor starts the tasks, writes their output, ends them and records
 * what happened.  The guard only waits for it.  If the supervisor is killed,
 * tasks die with it (PR_SET_PDEATHSIG), and the processes that they had started
 * become children of the guard, which kills those too and records the run as
 * failed.  If the guard is killed, the supervisor ends the run.  If both are,
 * tasks still die; the next command that looks at the run finds the rest by a
 * mark in its environment (supervisor_check).
 *
 * Both hold a lock on the file `lock` in the run's folder, which also holds the
 * supervisor's pid: a run is alive as long as the lock is held.  The file
 * `state` there is rewritten at every change, so that others can wait for one
 * with inotify.
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
 * Adds the record of a run.  `*lock` is held from its first moment, so that
 * everybody sees if we are killed before the run is started.  The caller closes
 * it.
 */
int supervisor_add(struct store *store, struct run_record *run, int *lock,
		   struct error *err);

/*
 * Starts the run of a record that was just added (its spec with attempt and
 * folder set): `jobrun supervise JOBID ATTEMPT`, in a session of its own.
 * Returns when that process has taken over and has chosen the ports; from then
 * on it alone writes the run's record, and has a copy of `lock`.
 */
int supervisor_start(struct store *store, const struct run_spec *spec, int lock,
		     struct error *err);

/* The main function of the two processes; returns their exit status.  Machines
 * for the run come from one of these providers, and its logs are copied to a
 * store that one of these schemes reaches. */
int supervisor_main(const char *job_id, int attempt,
		    const struct provider *const *providers,
		    const struct object_scheme *const *schemes);

/* Asks a run to end, with its grace period or `now`.  Already ended is success.
 * 1: its processes were stopped, as `err` says, and go on now. */
int supervisor_cancel(struct store *store, const struct run_record *run,
		      bool now, struct error *err);

/*
 * Brings the record of a run up to date: if its processes are gone without
 * having recorded its end, kills what is left and records it as failed.  A run
 * that never began, because the process starting it was killed, is deleted.  A
 * run of another machine whose lock is not visible here is over after three
 * minutes of silence: see heartbeat.h.  If they were killed after its end, but
 * before its machines were deleted and its logs uploaded, others are started.
 */
int supervisor_check(struct store *store, const struct run_record *run,
		     struct error *err);

/* The hosts on which something of a run that is over may go on, or which have
 * output of it. */
int supervisor_left(struct store *store, const struct run_record *run,
		    struct arena *mem, struct left_hosts *out,
		    struct error *err);
/* Ends what may run there, and fetches the output, now; waits at most so long.
 * ERROR_UNREACHABLE, with a line about the first host that remains, if one
 * remains whose tasks may still run, or with `all` any host. */
int supervisor_end_left(struct store *store, const struct run_record *run,
			bool all, int64_t limit_ms, struct error *err);

/* Stops looking after these hosts. */
int supervisor_forget_left(struct store *store, const struct run_record *run,
			   struct error *err);

/* Whether machines of a run that is over are still to be deleted, or its logs
 * to be uploaded. */
bool supervisor_is_unreleased(struct store *store,
			      const struct run_record *run);
/* Whether that is so, and a supervisor is at it. */
bool supervisor_releases(struct store *store, const struct run_record *run);

/* Progress of a run that is still being prepared, in a few words, or ""; false
 * once it is prepared. */
bool supervisor_note(struct store *store, const char *job_id, int attempt,
		     char *out, size_t size);

/* An inotify descriptor that is readable when the run's state has changed; the
 * caller reads and closes it. */
int supervisor_watch(struct store *store, const char *job_id, int attempt,
		     int *fd, struct error *err);

#endif
