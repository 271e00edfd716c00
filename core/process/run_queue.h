/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs of one store that wait for each other on this machine.  Nobody
 * manages them: each supervisor has a file in a folder, locked for as long as
 * it lives, whose name says whether it waits and how early it came.  Whoever
 * is first of those that live, and finds fewer running than may, renames its
 * own.  What was killed holds no lock, so it counts no more.
 *
 *	queue/w-PRIORITY-TIME-RUN	it waits
 *	queue/r-RUN			it runs
 *	queue/lock			held by who looks or changes, for a
 *moment
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
	long limit;    /* so many may run at once; 0: it waits for nobody */
	long priority; /* the higher ones go first */
	int64_t create_time_ms; /* the earlier ones go first, else */
	/* It may go; once, and not from within run_queue_join(). */
	void (*ready)(void *arg);
	/* What it waits for has changed. */
	void (*waits)(void *arg, const char *what);
	void *arg;
};

/*
 * Returns new.  Sets `go` if it may go at once, as one without a limit does,
 * and one that `goes_on` from an earlier process.  Fails only if it has a
 * limit: without one a folder that can't be written keeps nobody waiting.
 */
struct run_queue *run_queue_join(const struct run_queue_deps *deps,
				 bool goes_on, bool *go, struct error *err);
/* The next may go.  NULL does nothing. */
void run_queue_leave(struct run_queue *queue);

#endif
