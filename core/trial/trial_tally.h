/* SPDX-License-Identifier: Apache-2.0 */
/* Sums up the ended trials of a run: whether it is worth going on, and how the
 * run has ended. */
#ifndef JOBRUN_TRIAL_TALLY_H
#define JOBRUN_TRIAL_TALLY_H

#include <stdbool.h>

#include "core/job/job.h"
#include "core/store/store.h"

/* How many trials may fail where maxFailedTrials leaves that open, as long as
 * none has succeeded. */
#define TRIAL_FAILED_MAX 5

/* Zeroed at first. */
struct trial_tally {
	long ended;
	long failed;
	long succeeded;
	long cancelled; /* and not stopped early */
	long reported;  /* so many have a value */
	/* The one that failed last; borrowed from its record. */
	int last;
	const char *last_error;
	int64_t last_ms;
};

/* Adds a trial that has ended. */
void trial_tally_add(struct trial_tally *tally,
		     const struct trial_record *record);

/* Whether so many have failed that there is no point in going on; `why` says
 * that then. */
bool trial_tally_is_enough(const struct trial_tally *tally,
			   const struct hyperparameter_spec *spec, char *why,
			   size_t size);

/* The verdict on all trials, none cancelled: RUN_SUCCEEDED, or RUN_FAILED with
 * `why`. */
enum run_state trial_tally_verdict(const struct trial_tally *tally,
				   const struct hyperparameter_spec *spec,
				   char *why, size_t size);

#endif
