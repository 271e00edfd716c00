/* SPDX-License-Identifier: Apache-2.0 */
/* A look at how a run stands (follow.c), and why it has ended so (why.c). */
#ifndef JOBRUN_SLURM_LOOK_H
#define JOBRUN_SLURM_LOOK_H

#include "providers/slurm/internal.h"

struct look {
	struct slurm *slurm;
	struct slurm_cluster *at;
	struct slurm_record *record;
	struct arena *mem;
	char *folder; /* of the attempt, here */
	struct task_list tasks;
	bool *changed;
	struct queue_job job;
	bool known;        /* Slurm knows the job */
	int status;        /* of the script; -1: it has not said */
	int64_t status_ms; /* when that was seen first */
};

/* The task that the attempt failed for, or NULL. */
const struct task_record *look_culprit(const struct look *look);

/* What the tasks and the script have left to say of a failure; false:
 * nothing. */
bool look_explain_files(const struct look *look, struct buf *why);
/* The same of an attempt that lost its nodes. */
void look_explain_loss(const struct look *look, struct buf *why);
/* Why the run has failed: by Slurm, by the tasks, or by both; in `mem`. */
const char *look_explain(const struct look *look);

#endif
