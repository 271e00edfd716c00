/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores the progress of a run.  Changes are collected and stored a moment
 * later, in one transaction: a run of a thousand tasks must not wait for the
 * store a thousand times, and messages to the tasks never wait for it.  If the
 * disk is full or the store is locked, it tries again.
 */
#ifndef JOBRUN_RECORDER_H
#define JOBRUN_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/loop.h"
#include "core/store/store.h"

/* The owner sets the members up to `count` and zeroes the rest; all
 * borrowed. */
struct recorder {
	struct store *store;
	struct loop *loop;
	const struct run_record *run;
	const struct task_record *tasks;
	size_t count;

	bool *dirty; /* by task; owned */
	bool run_dirty;
	bool tasks_dirty; /* any task is dirty */
	struct loop_event *timer;
};

void recorder_done(struct recorder *recorder);

/* Mark the record of the run, or of one task, as changed.  A record that is not
 * in the store yet is added. */
void recorder_run(struct recorder *recorder);
void recorder_task(struct recorder *recorder, size_t i);

/* Stores all changes now; changes that can't be stored are retried later. */
int recorder_flush(struct recorder *recorder, struct error *err);

/*
 * Stores the end of an attempt and all its tasks together with the next
 * attempt, see store_run_next(); `recorder->run` is still the one that has
 * ended.  Retries for seconds.
 */
int recorder_next(struct recorder *recorder, struct run_record *next,
		  int (*prepare)(void *arg, const char *folder, int attempt,
				 struct error *err),
		  void *arg, struct error *err);

/* Stores everything, and retries for minutes: this is the last chance. */
int recorder_end(struct recorder *recorder, struct error *err);

#endif
