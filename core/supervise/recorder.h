/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes down what becomes of a run while it goes on.  Changes are gathered
 * and stored a moment later, in one transaction: a run of a thousand tasks
 * must not wait for the store a thousand times, and what is to be told to the
 * tasks never waits for it.  On a full disk or a locked store it tries again.
 */
#ifndef JOBRUN_RECORDER_H
#define JOBRUN_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/loop.h"
#include "core/store/store.h"

/* Filled in by its owner up to `count`, else zeroed; all borrowed. */
struct recorder {
	struct store *store;
	struct loop *loop;
	const struct run_record *run;
	const struct task_record *tasks;
	size_t count;

	bool *dirty; /* by task; owned */
	bool run_dirty;
	bool tasks_dirty; /* any of them */
	struct loop_event *timer;
};

void recorder_done(struct recorder *recorder);

/* The record of the run, or of one task, has changed.  One that is not in
 * the store yet is added. */
void recorder_run(struct recorder *recorder);
void recorder_task(struct recorder *recorder, size_t i);

/* Stores what has changed now; what can't be stored is tried again later. */
int recorder_flush(struct recorder *recorder, struct error *err);

/*
 * Stores the end of an attempt and all its tasks together with the next one,
 * see store_run_next(); `recorder->run` is still the one that has ended.
 * Tries for seconds.
 */
int recorder_next(struct recorder *recorder, struct run_record *next,
		  int (*prepare)(void *arg, const char *folder, int attempt,
				 struct error *err),
		  void *arg, struct error *err);

/* Stores everything, and tries for minutes: what is not written now will
 * never be. */
int recorder_end(struct recorder *recorder, struct error *err);

#endif
