/* SPDX-License-Identifier: Apache-2.0 */
/* A run that is a job array, as it is being looked at: all of it
 * (follow_trials.c), and one trial (follow_trial.c). */
#ifndef JOBRUN_SLURM_TRIALS_H
#define JOBRUN_SLURM_TRIALS_H

#include "core/trial/trial_tally.h"
#include "providers/slurm/slurm_look.h"

struct trials {
	const struct slurm_look *run;
	const struct error *away; /* Slurm does not answer; or NULL */
	char *folder;             /* of the run, here */
	struct run_spec spec;
	long count;
	struct trial_record *records; /* by number - 1 */
	bool *recorded;               /* in the store */
	bool *begun;
	struct trial_tally tally;
	long gone;      /* so many ended without having begun */
	bool cancelled; /* some of these were cancelled */
};

/* The queue entry of a trial; NULL: there is none.  An array cancelled while
 * pending may be one entry. */
const struct queue_job *trials_element(const struct trials *t, int number);

/* One that has begun, and has not ended as far as is known. */
int trials_look_at(struct trials *t, int number, struct error *err);

#endif
