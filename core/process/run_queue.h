/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of one store's runs on this machine.  It has no manager: each
 * supervisor has a file in a folder, locked as long as it lives, whose name
 * says whether it waits and when it came.  A waiting supervisor that is first
 * among the live ones renames its file once fewer run than the limit.  A killed
 * process holds no lock, so it no longer counts.
 *
 *	queue/w-PRIORITY-TIME-RUN	it waits
 *	queue/r-RUN			it runs
 *	queue/lock			held briefly to look or to change
 */
#ifndef JOBRUN_RUN_QUEUE_H
#define JOBRUN_RUN_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/base/loop.h"

struct run_queue;

struct run_queue_deps {
	struct loop *loop;
	const char *store; /* its folder */
	const char *job_id;
	int attempt;
	long limit;             /* how many may run at once; 0: does not wait */
	long priority;          /* higher ones go first */
	int64_t create_time_ms; /* among equals, earlier ones go first */
	/* Called once when the run may go, never from within
	 * run_queue_join(). */
	void (*ready)(void *arg);
	/* Called when what it waits for has changed. */
	void (*waits)(void *arg, const char *what);
	void *arg;
};

/*
 * Returns new.  Sets `go` if the run may go at once: if it has no limit, or
 * `goes_on` from an earlier process.  Fails only if it has a limit: without
 * one, a folder that can't be written blocks nobody.
 */
struct run_queue *run_queue_join(const struct run_queue_deps *deps,
				 bool goes_on, bool *go, struct error *err);
/* Lets the next run go.  Accepts NULL. */
void run_queue_leave(struct run_queue *queue);

#endif
