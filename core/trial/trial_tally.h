/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up the ended trials of a run: whether to go on, and how the run has
 * ended. */
#ifndef JOBRUN_TRIAL_TALLY_H
#define JOBRUN_TRIAL_TALLY_H

#include <stdbool.h>

#include "core/job/job.h"
#include "core/store/store.h"

/* How many trials may fail if maxFailedTrials does not say, as long as none has
 * succeeded. */
#define TRIAL_FAILED_MAX 5

/* Zeroed before the first trial is added. */
struct trial_tally {
	long ended;
	long failed;
	long succeeded;
	long cancelled; /* and not stopped early */
	long reported;  /* how many have a value */
	/* The trial that failed last; borrowed from its record. */
	int last;
	const char *last_error;
	int64_t last_ms;
};

/* Adds a trial that has ended. */
void trial_tally_add(struct trial_tally *tally,
		     const struct trial_record *record);

/* Whether so many trials have failed that going on is pointless; then `why`
 * says so. */
bool trial_tally_is_enough(const struct trial_tally *tally,
			   const struct hyperparameter_spec *spec, char *why,
			   size_t size);

/* The verdict on all trials, if none was cancelled: RUN_SUCCEEDED, or
 * RUN_FAILED with `why`. */
enum run_state trial_tally_verdict(const struct trial_tally *tally,
				   const struct hyperparameter_spec *spec,
				   char *why, size_t size);

#endif
