/* SPDX-License-Identifier: Apache-2.0 */
/* A look at the state of a run, or of a trial: at its folder (slurm_look.c), at
 * what Slurm says of it (follow.c, follow_trials.c), and why it ended (why.c). */
#ifndef JOBRUN_SLURM_LOOK_H
#define JOBRUN_SLURM_LOOK_H

#include "providers/slurm/slurm_internal.h"

struct slurm_look {
	struct slurm *slurm;
	struct slurm_cluster *at;
	struct slurm_record *record;
	struct arena *mem;
	int trial;    /* 0: of none */
	int attempt;  /* 0, 1 …: which one this is of the run, or the trial */
	char *folder; /* of the attempt, here */
	struct task_list tasks;
	bool *changed;
	struct queue_job job;
	bool known;        /* Slurm knows the job */
	int status;        /* of the script; -1: it has not said */
	int64_t status_ms; /* when that was seen first */
};

/* ---- look.c ------------------------------------------------------------ */

/* How late a shared directory can show what a task wrote last. */
#define LOOK_SETTLE_MS 5000

/* The folder of the run there; in `mem`. */
const char *look_run_folder(const struct slurm_look *look);
/* One process at a time looks at what is in `folder`: what another brings need
 * not be brought twice.  To be closed, by which others that watch the folder
 * know that something may be new (supervisor_watch()). */
int look_lock(const struct slurm_look *look, struct error *err);
/* Brings all that is new of the attempt. */
int look_fetch(struct slurm_look *look, struct error *err);
/* Reads the batch script's word on its end, if there is one. */
void look_read_status(struct slurm_look *look);
/* Reads the known tasks, with new facts from the folder. */
int look_read_tasks(struct slurm_look *look, struct error *err);
/* Makes the tasks of an attempt that is looked at for the first time. */
int look_make_tasks(struct slurm_look *look, struct error *err);
const struct task_record *look_master(const struct slurm_look *look);
bool look_is_changed(const struct slurm_look *look);
/* In a run that is over no task goes on.  One that was ended with the rest has
 * not failed. */
void look_settle_tasks(struct slurm_look *look,
		       const struct task_record *first);
/* When the run ended, by Slurm or by the script; 0: neither says. */
int64_t look_end_time(const struct slurm_look *look);
/* The job's, or of a later attempt within it that of its tasks; 0: not known. */
int64_t look_start_time(const struct slurm_look *look);
/* A shared directory shows what a node wrote last a moment later. */
bool look_is_settled(const struct slurm_look *look);

/* ---- follow_trials.c --------------------------------------------------- */

/* The whole of a run that is a job array.  `away`: Slurm does not answer; or
 * NULL. */
int look_at_trials(struct slurm_look *look, const struct error *away,
		   struct error *err);

/* ---- why.c ------------------------------------------------------------- */

/* The task that the attempt failed for, or NULL. */
const struct task_record *look_culprit(const struct slurm_look *look);

/* Explains a failure from the files of the tasks and the script; false: they
 * say nothing. */
bool look_explain_files(const struct slurm_look *look, struct buf *why);
/* The same of an attempt that lost its nodes. */
void look_explain_loss(const struct slurm_look *look, struct buf *why);
/* What it waits for that has not begun; in `mem`. */
const char *look_explain_wait(const struct slurm_look *look);
/* Why it was cancelled, if it was for its maxRunningTime; in `mem`.  NULL: it was
 * not. */
const char *look_explain_limit(const struct slurm_look *look);
/* Why the run has failed: by Slurm, by the tasks, or by both; in `mem`. */
const char *look_explain(const struct slurm_look *look);

#endif
