/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks on other machines: the backend of a run with hosts.  Each host has one
 * ssh connection to an agent (cmd/jobrun-host/agent.h), which holds the tasks
 * there and goes on without us.  If the process was killed, a new backend for
 * the run finds the agents again and continues: `start` starts tasks that were
 * not started yet, and reports everything that has happened.
 *
 * A broken connection is made again; a host is lost only after twelve seconds
 * of silence.
 */
#ifndef JOBRUN_HOSTS_H
#define JOBRUN_HOSTS_H

#include "core/base/loop.h"
#include "core/supervise/backend.h"
#include "core/log/log.h"
#include "core/process/reaper.h"
#include "core/spec/spec.h"

/* All borrowed; they must outlive the backend. */
struct hosts_deps {
	/* Addresses and ports are filled in, and it is written again. */
	struct run_spec *spec;
	struct arena *mem; /* of the spec */
	struct loop *loop;
	struct reaper *reaper;          /* run it at SIGCHLD */
	struct log_writer *const *logs; /* one per task */
	const char *store;              /* the store's folder */
	const char *owner;              /* store_owner() */
	/* Reports progress while it prepares; or NULL. */
	void (*progress)(void *arg, size_t ready, size_t count);
	/* Reports which host waits for devices, and for whom; NULL: none does
	 * any more. */
	void (*waits)(void *arg, const char *what);
	/* For their queues: the run's name, "job.1", and when it came. */
	int origin;
	int64_t create_time_ms;
	void *arg;
};

struct backend *hosts_new(const struct hosts_deps *deps, struct error *err);

/*
 * Moves an idle backend to another specification, with the same hosts and slot,
 * and its logs: the connections stay, and so does what was prepared there.
 * Agents count the rounds of one backend; `hosts.rounds` of the specification
 * stores their number.
 */
void hosts_move(struct backend *backend, const struct hosts_deps *deps);

/*
 * To be called after `finished` of the last attempt, or in another process:
 * ends what the run may have left on hosts that were cut off, and fetches the
 * rest of its output.  Runs the loop until nothing is left, or the rest has
 * ended by itself because its lease expired.
 */
int hosts_reconcile(struct backend *backend, struct error *err);
/* Tells hosts_reconcile() that somebody wants it done now. */
void hosts_hurry(struct backend *backend);

/* The file with the host keys that the job has learned.  Returns new. */
char *hosts_known_path(const char *store, const char *job_id);

#endif
