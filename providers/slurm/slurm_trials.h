/* SPDX-License-Identifier: Apache-2.0 */
/* A look at a run that is a job array: all of it (follow_trials.c), and one
 * trial (follow_trial.c). */
#ifndef JOBRUN_SLURM_TRIALS_H
#define JOBRUN_SLURM_TRIALS_H

#include "core/trial/trial_tally.h"
#include "providers/slurm/slurm_look.h"

struct trials {
	const struct slurm_look *run;
	const struct error *away; /* Slurm does not answer; or NULL */
	char *folder;             /* of the run, on this machine */
	struct run_spec spec;
	long count;
	struct trial_record *records; /* by number - 1 */
	bool *recorded;               /* those that the store has */
	bool *begun;
	struct trial_tally tally;
	long gone;      /* how many ended before they began */
	bool cancelled; /* some of these were cancelled */
};

/* The queue entry of a trial; NULL: there is none.  An array cancelled while
 * pending may be one entry. */
const struct queue_job *trials_element(const struct trials *t, int number);

/* Looks at a trial that has begun, and has not ended as far as is known. */
int trials_look_at(struct trials *t, int number, struct error *err);

#endif
