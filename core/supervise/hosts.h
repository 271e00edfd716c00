/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks on other machines: the backend of a run with hosts.  One ssh connection
 * for each, to an agent (cmd/jobrun-host/agent.h) that holds the tasks there and goes on
 * without us.  A backend that is made for a run that had one before, because the
 * process was killed, finds the agents again and goes on where it was:
 * `start` starts what was not started yet, and reports all that has happened.
 *
 * A connection that breaks is made again; only a host that has not been heard
 * of for twelve seconds is lost.
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
	const char *store;              /* the folder of the store */
	const char *owner;              /* store_owner() */
	/* While it prepares; or NULL. */
	void (*progress)(void *arg, size_t ready, size_t count);
	void *arg;
};

struct backend *hosts_new(const struct hosts_deps *deps, struct error *err);

/*
 * Takes an idle backend on to another specification, of the same hosts and slot,
 * and its logs: the connections stay, and so does what was prepared there.
 * Agents count the rounds of one backend; how many there were is kept in
 * `hosts.rounds` of the specification.
 */
void hosts_move(struct backend *backend, const struct hosts_deps *deps);

/*
 * After `finished` of the last attempt, or in another process: ends what the run
 * may have left on hosts that were cut off, and takes the rest of its output.
 * Runs the loop until there is none, or what is left has ended by itself as its
 * lease is over.
 */
int hosts_reconcile(struct backend *backend, struct error *err);
/* Meanwhile: somebody asks for it now. */
void hosts_hurry(struct backend *backend);

/* The keys of hosts that the job has learned.  Returns new. */
char *hosts_known_path(const char *store, const char *job_id);

#endif
