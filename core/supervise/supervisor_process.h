/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor process as its own parts know it: supervisor.c,
 * supervisor_queue.c, supervisor_machines.c and supervisor_logs.c. */
#ifndef JOBRUN_SUPERVISOR_PROCESS_H
#define JOBRUN_SUPERVISOR_PROCESS_H

#include <signal.h>

#include "core/base/loop.h"
#include "core/supervise/run_context.h"
#include "core/supervise/tuner.h"

struct supervisor {
	/* For the process. */
	struct arena *mem;
	struct store *store;
	struct loop *loop;
	struct reaper *reaper;
	sigset_t signals;
	struct rlimit no_files; /* what tasks get; ours is raised */
	int signal_fd;
	int guard_fd; /* a pidfd */
	struct loop_event *guard_event;
	struct run_context_deps deps;

	/* For the run. */
	struct run_context
		context;          /* used, but for its specification, if ... */
	struct tuner *tuner;      /* ... there are no trials; then NULL */
	struct run_record run;    /* of the attempt under way */
	int64_t running_since_ms; /* the first of them; 0: none yet */
	struct loop_event *next_timer; /* it waits for the next attempt */
	struct run_queue *queue;       /* of this machine; or NULL */
	struct device_queue *devices;  /* for those that it needs; or NULL */
	bool waits;                    /* for its turn in either */
	bool cancelled;
	bool over;        /* it has an end that stays */
	bool reconciling; /* with hosts that it has left */
	char why[512];    /* it ended */
	char progress[512];

	/* Machines that were made for it; or NULL. */
	struct allocation *allocation;
	bool wants_machines; /* before it goes on */
	bool getting;        /* them */

	/* uploads its logs; or NULL */
	struct log_uploader *log_uploader;
	struct object_store *objects;
	const struct object_scheme *const *schemes;
};

/* ---- supervisor.c ---- */

/* Has machines made for it if it wants some, then begins. */
void supervisor_begin(struct supervisor *s);
/* Begins the attempt that is due. */
void supervisor_attempt(struct supervisor *s);
/* While it waits there is nothing to end but that. */
void supervisor_stop_waiting(struct supervisor *s, enum run_state state,
			     const char *why);

/* ---- supervisor_queue.c ---- */

/* Returns false while it waits for others to end; then it begins by itself. */
bool supervisor_enter_queue(struct supervisor *s);
/* For all trials at a time. */
size_t supervisor_devices_needed(const struct supervisor *s);
/* What waits for its end, or its devices, goes on. */
void supervisor_leave_queue(struct supervisor *s);

/* ---- supervisor_machines.c ---- */

int supervisor_open_machines(struct supervisor *s,
			     const struct provider *const *providers,
			     struct error *err);
/* Has them there, then begins the attempt.  Runs the loop. */
void supervisor_get_machines(struct supervisor *s);
/* After the end of the run; what goes wrong with it is in the journal. */
void supervisor_release_machines(struct supervisor *s);

/* ---- supervisor_logs.c ---- */

/* Uploads the logs from here on, if the job asks for it.  Reports a failure,
 * which stops nothing else. */
void supervisor_keep_logs(struct supervisor *s,
			  const struct object_scheme *const *schemes);
/* After the end of the run: how that was, if the specification says where to.
 * Another machine may run the job again if it fails. */
void supervisor_keep_end(struct supervisor *s);
/* After the end of the run: the rest of them. */
void supervisor_keep_last_logs(struct supervisor *s);

#endif
