/* SPDX-License-Identifier: Apache-2.0 */
/* A look at the state of a run, or of a trial: its folder (slurm_look.c), what
 * Slurm reports (follow.c, follow_trials.c), and why it ended (why.c). */
#ifndef JOBRUN_SLURM_LOOK_H
#define JOBRUN_SLURM_LOOK_H

#include "providers/slurm/slurm_internal.h"

struct slurm_look {
	struct slurm *slurm;
	struct slurm_cluster *at;
	struct slurm_record *record;
	struct arena *mem;
	int trial;    /* 0: not a trial */
	int attempt;  /* 0, 1 …: the attempt at the run, or the trial */
	char *folder; /* of the attempt, on this machine */
	struct task_list tasks;
	bool *changed;
	struct queue_job job;
	bool known;        /* Slurm knows the job */
	int status;        /* of the script; -1: not written yet */
	int64_t status_ms; /* when the status was first seen */
};

/* ---- look.c ------------------------------------------------------------ */

/* How late a shared directory may show the last output of a task. */
#define LOOK_SETTLE_MS 5000

/* The folder of the run on the cluster; in `mem`. */
const char *look_run_folder(const struct slurm_look *look);
/* Takes a lock, as one process at a time fetches into `folder`.  Closing the
 * descriptor tells others that watch the folder that there may be news
 * (supervisor_watch()). */
int look_lock(const struct slurm_look *look, struct error *err);
/* Fetches everything new of the attempt. */
int look_fetch(struct slurm_look *look, struct error *err);
/* Reads the exit status that the batch script has written, if any. */
void look_read_status(struct slurm_look *look);
/* Reads the known tasks, with new facts from the folder. */
int look_read_tasks(struct slurm_look *look, struct error *err);
/* Makes the records of tasks at the first look at an attempt. */
int look_make_tasks(struct slurm_look *look, struct error *err);
const struct task_record *look_master(const struct slurm_look *look);
bool look_is_changed(const struct slurm_look *look);
/* Ends the remaining tasks of a run that is over.  A task that was ended with
 * the rest has not failed. */
void look_settle_tasks(struct slurm_look *look,
		       const struct task_record *first);
/* When the run ended, according to Slurm or to the script; 0: unknown. */
int64_t look_end_time(const struct slurm_look *look);
/* When the job began, or for a later attempt within it, its tasks; 0:
 * unknown. */
int64_t look_start_time(const struct slurm_look *look);
/* Whether the shared directory has had time to show what the nodes wrote
 * last. */
bool look_is_settled(const struct slurm_look *look);

/* ---- follow_trials.c --------------------------------------------------- */

/* Looks at the whole of a run that is a job array.  `away`: Slurm does not
 * answer; or NULL. */
int look_at_trials(struct slurm_look *look, const struct error *away,
		   struct error *err);

/* ---- cancelled.c ------------------------------------------------------- */

/* The state of a run whose job Slurm calls cancelled; `*why` (in `mem`) says
 * that jobrun did not do it, or is "". */
enum run_state look_cancelled(const struct slurm_look *look, const char **why);

/* ---- why.c ------------------------------------------------------------- */

/* The task that made the attempt fail, or NULL. */
const struct task_record *look_culprit(const struct slurm_look *look);

/* Explains a failure from the files of the tasks and the script; false: they
 * give no reason. */
bool look_explain_files(const struct slurm_look *look, struct buf *why);
/* The same for an attempt that lost its nodes. */
void look_explain_loss(const struct slurm_look *look, struct buf *why);
/* What it waits for that has not begun; in `mem`. */
const char *look_explain_wait(const struct slurm_look *look);
/* The reason if it was cancelled because of its maxRunningTime; in `mem`.
 * NULL: it was not. */
const char *look_explain_limit(const struct slurm_look *look);
/* Why the run has failed, according to Slurm, the tasks, or both; in `mem`. */
const char *look_explain(const struct slurm_look *look);

#endif
