/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One task of a run whose tasks are started by somebody else, each on its node,
 * with the run's folder in a shared directory.  A task runner runs the task's
 * program as a local supervisor would, and writes into that folder the files by
 * which the run is followed:
 *
 *	spec.json, secrets.json	its instructions, written before; for the
 *				second see task_secrets.h
 *	attempts/N/logs/	its output, as in core/log/log.h
 *	attempts/N/tasks/TYPE-INDEX
 *		start HOST PID TIME_MS
 *				PID of jobrun itself, if the program was
 *				never started
 *		told SIGNAL TIME_MS
 *				somebody else wants it to end, or the setup
 *				of its node has failed
 *		end STATUS TIME_MS LOGGED LOST
 *				the status of waitpid(), the size of its log
 *				files, which are on the disk by then, and the
 *				number of bytes that could not be stored
 *	attempts/N/until	when to end it, in ms; written before, by who
 *				knows how long the run may take
 *	attempts/N/over_time	the time is up: all tasks end
 *	output/			JOBRUN_RUN_DIR
 *	trials/K/		for each hyperparameter trial, with its own
 *				attempts/ and output/ (trial_spec.h)
 *
 * As everywhere, the job ends when its master does: other task runners see from
 * the master's file that it has succeeded, and end.
 */
#ifndef JOBRUN_TASK_RUNNER_H
#define JOBRUN_TASK_RUNNER_H

#include <stdbool.h>

#include "core/topology/topology.h"
#include "core/store/store.h"

#define TASK_UNTIL_FILE "until"
#define TASK_OVER_TIME_FILE "over_time"

struct task_runner_deps {
	const char *folder; /* of the run */
	int trial;          /* a hyperparameter trial; 0: none */
	int restart;        /* which attempt this is: 0, 1 … */
	/* All tasks, as the place itself numbers them: in the order of the
	 * run's tasks, with meaningless types; and which one this is. */
	const struct topology *peers;
	size_t self;
};

/*
 * Runs the task to its end.  Returns its exit status (128 + n after signal n;
 * also 0 if the master has succeeded before), or -1 if it could not be started.
 */
int task_runner_run(const struct task_runner_deps *deps, struct error *err);

/* The path of a task's file in the folder of an attempt; in `mem`. */
const char *task_file_path(struct arena *mem, const char *attempt,
			   const char *type, int index);

/* Reads a task's file from the folder of an attempt (or a copy of it): fills in
 * what is known, and leaves the rest.  Strings live in `mem`.  1: there is none
 * yet. */
int task_file_read(const char *folder, struct arena *mem,
		   struct task_record *task, struct error *err);
/* Whether somebody outside told it to end, by SIGTERM or SIGINT, before it
 * did. */
bool task_file_was_told(const char *folder, const struct task_record *task);
/* Whether all output of the task is in the folder; true for a task that has not
 * ended.  In a shared directory, the end of a task may be visible before the
 * last of its log. */
bool task_file_is_whole(const char *folder, const struct task_record *task);

#endif
