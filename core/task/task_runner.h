/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One task of a run whose tasks somebody else starts, each on its node, with
 * the run's folder in a directory that all of them share.  A member runs the
 * program of its task as a supervisor here would, and leaves in that folder
 * what the run is followed by:
 *
 *	spec.json, secrets.json	what it is told; written before, and of the
 *				second see task_secrets.h
 *	attempts/N/logs/	its output, as core/log/log.h has it
 *	attempts/N/tasks/TYPE-INDEX
 *		start HOST PID TIME_MS
 *				of jobrun itself, if it never came to the
 *				program
 *		told SIGNAL TIME_MS
 *				somebody else wants it to end, or the setup
 *				of its node has failed
 *		end STATUS TIME_MS LOGGED LOST
 *				the status as waitpid() gives it, the size
 *				of the files of its log, which are on the disk
 *				by then, and the bytes that could not be kept
 *	attempts/N/until	when to end it, in ms; written before, by who
 *				knows how long the run may take
 *	attempts/N/over_time	it has been: all tasks end
 *	output/			JOBRUN_RUN_DIR
 *	trials/K/		for each trial of hyperparameters, with attempts/
 *				and output/ of its own (trial_spec.h)
 *
 * As everywhere, the job ends when its master does: members see from its file
 * that it has succeeded, and end.
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
	int trial;          /* of hyperparameters; 0: the run has none */
	int restart;        /* which attempt this is: 0, 1 … */
	/* All tasks, as the place itself names them: in the order of the
	 * run's tasks, with types that mean nothing; and which one this is. */
	const struct topology *peers;
	size_t self;
};

/*
 * Runs the task to its end.  Returns its exit status (128 + n after signal n; 0
 * too if the master has succeeded before), or -1 if it could not be started.
 */
int task_runner_run(const struct task_runner_deps *deps, struct error *err);

/* The path of a task's file in the folder of an attempt; in `mem`. */
const char *task_file_path(struct arena *mem, const char *attempt,
			   const char *type, int index);

/* A task's file, from the folder of an attempt (or a copy of it): fills in what
 * is known, and leaves the rest.  Texts live in `mem`.  1: there is none yet. */
int task_file_read(const char *folder, struct arena *mem,
		   struct task_record *task, struct error *err);
/* Whether somebody outside has told it to end before it did, by SIGTERM or
 * SIGINT. */
bool task_file_was_told(const char *folder, const struct task_record *task);
/* Whether all that the task has logged is in the folder; of one that has not
 * ended yet nobody knows, which is true.  A directory that is shared may show
 * the end of a task before the last of its log. */
bool task_file_is_whole(const char *folder, const struct task_record *task);

#endif
