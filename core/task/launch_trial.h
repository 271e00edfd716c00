/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 'jobrun launch --trials': this container is one of the trials of a run, of
 * which the place says only the index.  All of them are told the same:
 *
 *	{"metric": "accuracy", "names": ["lr", "units"],
 *	 "values": [["0.1", "64"], ["0.01", "64"]], "jobDir": "gs://b/run"}
 *
 * The values are written out, not drawn here: another version of jobrun, or
 * another libm, would draw others than those that are recorded.
 */
#ifndef JOBRUN_LAUNCH_TRIAL_H
#define JOBRUN_LAUNCH_TRIAL_H

#include <jansson.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/job/job.h"

/* What is told; fails in no way: the job has trials.  Returns new. */
json_t *launch_trials_json(const struct job *job);
/* The values of one (from 1) of those, {"lr": "0.1"}; returns new, NULL if it
 * has no such trial. */
json_t *launch_trials_values(const json_t *trials, long number);

struct launch_trial {
	const char *number;      /* from 1: CLOUD_ML_TRIAL_ID */
	const char *metric_file; /* CLOUD_ML_HP_METRIC_FILE */
	const char *metric;
	/* The command with its hyperparameters, and --job-dir last. */
	char **argv;
};

/*
 * Takes the one that JOB_COMPLETION_INDEX names; all is in `mem`.  Makes a
 * folder for it below JOBRUN_RUN_DIR, and sets that, CLOUD_ML_TRIAL_ID and
 * CLOUD_ML_HP_METRIC_FILE in this process.
 */
int launch_trial_enter(const char *trials, char *const *argv, struct arena *mem,
		       struct launch_trial *out, struct error *err);

/*
 * What it has left in its metric file, as a line that its log can have, in
 * `mem`: the file goes with its container.  NULL: nothing.
 */
const char *launch_trial_result(const struct launch_trial *trial,
				struct arena *mem);

#endif
