/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attempts at a run, one after the other, as its batch script has them
 * made on the nodes: whoever follows the run only reads what was decided, and
 * nobody has to.
 *
 *	attempts/N/begun	how often Slurm had queued the job again by then
 *	attempts/N/status	how srun ended
 *	attempts/N/next		what follows, once that is decided:
 *		again FAILURES PREEMPTIONS TIME_MS
 *				another attempt, not before that time; and how
 *				often the run was restarted then
 *		end WHY_NOT	none, though one was to be expected; or ""
 *
 * The attempts of a trial are in its folder, trials/K/attempts/N/; what its end
 * means for the others is in array.h.
 *
 * After a failure the next attempt begins on the same nodes.  After the loss
 * of a node Slurm queues the job again, and counts that (SLURM_RESTART_COUNT).
 */
#ifndef JOBRUN_ATTEMPTS_H
#define JOBRUN_ATTEMPTS_H

#include "core/spec/restart.h"

struct slurm_next {
	bool again;
	struct restart_counts counts; /* of another attempt */
	int64_t not_before_ms;
	char why_not[96]; /* or else */
};

/* Reads the decision about the next attempt from this attempt's folder, or a
 * copy of it.  1: that is not decided. */
int slurm_next_read(const char *attempt, struct slurm_next *out,
		    struct error *err);

/* Where the script stands. */
struct slurm_turn {
	const char *run;    /* the run's folder */
	const char *job_id; /* as scontrol takes it */
	int queued;         /* SLURM_RESTART_COUNT */
	int trial;          /* of a job array; 0: it is none */
	int ended;          /* the attempt that has ended just now; -1: none */
	int status;         /* of it */
};

enum slurm_step {
	SLURM_STEP_BEGIN, /* attempt `number` has begun: call srun */
	SLURM_STEP_END,   /* it is over: exit with the status `number` */
};

/*
 * Decides what follows the last attempt, and waits for its time.  Where that
 * needs other nodes, has Slurm queue the job again, and with it the script is
 * ended.  May be killed at any time and called again.  An attempt begins once:
 * one that has begun and of which nobody knows the end was lost.  Fails if its
 * files cannot be read or written; nothing has begun then.
 */
int slurm_turn_take(const struct slurm_turn *turn, enum slurm_step *step,
		    int *number, struct error *err);

/* Says by the comment of the job, where its reader looks, why its script ends
 * without a state; and on standard error. */
void slurm_turn_give_up(const struct slurm_turn *turn, const struct error *why);

/* Calls one of Slurm's commands on the node; what it says is why it failed. */
int slurm_call(const char *const *argv, struct error *err);

#endif
