/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor process, for its own parts: supervisor.c, supervisor_queue.c,
 * supervisor_machines.c and supervisor_logs.c. */
#ifndef JOBRUN_SUPERVISOR_PROCESS_H
#define JOBRUN_SUPERVISOR_PROCESS_H

#include <signal.h>

#include "core/base/loop.h"
#include "core/supervise/claim_keeper.h"
#include "core/supervise/run_context.h"
#include "core/supervise/tuner.h"

struct supervisor {
	/* The process: */
	struct arena *mem;
	struct store *store;
	struct loop *loop;
	struct reaper *reaper;
	sigset_t signals;
	struct rlimit no_files; /* the limits for tasks; ours is raised */
	int signal_fd;
	int guard_fd; /* a pidfd */
	struct loop_event *guard_event;
	struct run_context_deps deps;

	/* The run: */
	/* only its specification is used if there are trials */
	struct run_context context;
	struct tuner *tuner;      /* NULL: there are no trials */
	struct run_record run;    /* of the current attempt */
	int64_t running_since_ms; /* start of the first attempt; 0: not yet */
	/* set while it waits for the next attempt */
	struct loop_event *next_timer;
	struct run_queue *queue;      /* this machine's queue; or NULL */
	struct device_queue *devices; /* the queue for its devices; or NULL */
	bool waits;                   /* waits for its turn in either queue */
	bool cancelled;
	bool over;        /* has reached its final state */
	bool reconciling; /* busy with hosts that it has left */
	char why[512];    /* it ended */
	char progress[512];

	/* The machines that were made for it; or NULL. */
	struct allocation *allocation;
	bool wants_machines; /* needs its machines before it goes on */
	bool getting;        /* is getting its machines */

	/* uploads its logs; or NULL */
	struct log_uploader *log_uploader;
	struct object_store *objects;
	const struct object_scheme *const *schemes;
	/* renews the claim to the job; or NULL */
	struct claim_keeper *claim;
};

/* ---- supervisor.c ---- */

/* Makes its machines if it wants some, then begins. */
void supervisor_begin(struct supervisor *s);
/* Begins the attempt that is due. */
void supervisor_attempt(struct supervisor *s);
/* To be called on a request to end while it waits: ends only the waiting. */
void supervisor_stop_waiting(struct supervisor *s, enum run_state state,
			     const char *why);

/* ---- supervisor_queue.c ---- */

/* Returns false while it waits for others to end; then it begins by itself
 * later. */
bool supervisor_enter_queue(struct supervisor *s);
/* Records that hosts wait for devices of theirs, and for whom; NULL: no
 * longer. */
void supervisor_wait_for_hosts(struct supervisor *s, const char *what);
/* Releases its turn and its devices, so that others go on. */
void supervisor_leave_queue(struct supervisor *s);

/* ---- supervisor_machines.c ---- */

int supervisor_open_machines(struct supervisor *s,
			     const struct provider *const *providers,
			     struct error *err);
/* Makes the machines, then begins the attempt.  Runs the loop. */
void supervisor_get_machines(struct supervisor *s);
/* To be called after the end of the run; failures are in the journal. */
void supervisor_release_machines(struct supervisor *s);

/* ---- supervisor_logs.c ---- */

/* Starts uploading the logs if the job asks for it.  Reports a failure, which
 * stops nothing else. */
void supervisor_keep_logs(struct supervisor *s,
			  const struct object_scheme *const *schemes);
/* Claims the job while the run goes on, if the specification says where. */
void supervisor_keep_claim(struct supervisor *s);
/* To be called after the end of the run: records how it ended, if the
 * specification says where.  If that fails, another machine may repeat the
 * job. */
void supervisor_keep_end(struct supervisor *s);
/* To be called after the end of the run: uploads the rest of the logs. */
void supervisor_keep_last_logs(struct supervisor *s);

#endif
