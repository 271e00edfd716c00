/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attempts at a run, one after the other, which its batch script makes on
 * the nodes: whoever follows the run only reads the decisions, and nobody has
 * to follow.
 *
 *	attempts/N/begun	how often Slurm had requeued the job by then
 *	attempts/N/status	how srun ended
 *	attempts/N/next		what follows, once that is decided:
 *		again FAILURES PREEMPTIONS TIME_MS
 *				another attempt, not before that time; and how
 *				often the run has been restarted then
 *		end WHY_NOT	no other attempt, with the reason if one was
 *				to be expected, else ""
 *
 * The attempts of a trial are in its folder, trials/K/attempts/N/; array.h says
 * what its end means for the others.
 *
 * After a failure the next attempt begins on the same nodes.  After the loss of
 * a node Slurm requeues the job, and counts that (SLURM_RESTART_COUNT).
 */
#ifndef JOBRUN_ATTEMPTS_H
#define JOBRUN_ATTEMPTS_H

#include "core/spec/restart.h"

struct slurm_next {
	bool again;
	struct restart_counts counts; /* for another attempt */
	int64_t not_before_ms;
	char why_not[96]; /* or else */
};

/* Reads the decision about the next attempt from this attempt's folder, or a
 * copy of it.  1: not decided yet. */
int slurm_next_read(const char *attempt, struct slurm_next *out,
		    struct error *err);

/* The position of the script. */
struct slurm_turn {
	const char *run;    /* the run's folder */
	const char *job_id; /* in the form that scontrol takes */
	int queued;         /* SLURM_RESTART_COUNT */
	int trial;          /* of a job array; 0: not a trial */
	int ended;          /* the attempt that has just ended; -1: none */
	int status;         /* of it */
};

enum slurm_step {
	SLURM_STEP_BEGIN, /* attempt `number` has begun: call srun */
	SLURM_STEP_END,   /* the run is over: exit with the status `number` */
};

/*
 * Decides what follows the last attempt, and waits until it is due.  If other
 * nodes are needed, makes Slurm requeue the job, which ends the script.  May be
 * killed at any time and called again.  Each attempt begins once: one that has
 * begun and left no end was lost.  Fails if its files cannot be read or
 * written; then nothing has begun.
 */
int slurm_turn_take(const struct slurm_turn *turn, enum slurm_step *step,
		    int *number, struct error *err);

/* Records in the job's comment, where its reader looks, why its script ends
 * without a state; also reports it on standard error. */
void slurm_turn_give_up(const struct slurm_turn *turn, const struct error *why);

/* Calls one of Slurm's commands on the node; its output is the reason of a
 * failure. */
int slurm_call(const char *const *argv, struct error *err);

#endif
