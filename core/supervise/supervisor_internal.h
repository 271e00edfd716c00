/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of supervisor.h. */
#ifndef JOBRUN_SUPERVISOR_INTERNAL_H
#define JOBRUN_SUPERVISOR_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "core/base/error.h"
#include "core/data/object_store.h"
#include "core/provider/provider.h"
#include "core/store/store.h"

/* Descriptors that the new process finds open. */
#define SUPERVISOR_LOCK_FD 3
#define SUPERVISOR_REPORT_FD 4
#define SUPERVISOR_DEVICES_FD 5 /* closed if the run takes no devices */
#define SUPERVISOR_READY '+'
/* The exit status of a supervisor that could not record the end of its run. */
#define SUPERVISOR_UNRECORDED 3

/* The last line of its log, as ": out of memory", or "". */
void supervisor_last_words(const char *log, char *out, size_t size);

/* Starts the process of a run whose specification is written and whose lock
 * this is, and waits until it has taken over. */
struct run_spec;
int supervisor_spawn(struct store *store, const struct run_spec *spec, int lock,
		     struct error *err);

/* The supervisor process: `signals` are blocked.  Returns its exit status,
 * 0 if the end of the run is recorded. */
struct supervisor_start {
	const char *job_id;
	int attempt;
	const struct provider *const *providers;
	const struct object_scheme *const *schemes;
	const sigset_t *signals;
};
int supervisor_run(const struct supervisor_start *start, pid_t guard);

/* The newest attempt of the same run; 1 if there is no such run. */
int supervisor_newest(struct store *store, const char *job_id, int attempt,
		      struct arena *mem, struct run_record *out,
		      struct error *err);

/* Whether the run was started on this machine. */
bool supervisor_is_of_here(const struct run_record *run);

/* Records a run as failed when its supervisor no longer can. */
int supervisor_abandon(struct store *store, const char *job_id, int attempt,
		       const char *why, struct error *err);

/* Whether the tasks of the run in a folder go on without a supervisor: they are
 * on hosts. */
bool supervisor_goes_on(const char *folder);
/* Whether the logs of the run in a folder are uploaded somewhere. */
bool supervisor_keeps_logs(const char *folder);

/* Sets or removes a mark in the run's folder, which is there while machines of
 * an ended run are being deleted, or the last of its logs is uploaded. */
void supervisor_mark(const char *home, bool mark);
bool supervisor_is_marked(const char *home);

/* Rewrites the run's file `state`, for processes that watch it. */
void supervisor_publish(struct store *store, const struct run_record *run);

#endif
