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

#include "core/provider/extension.h"

/* What is told; fails in no way: the job has trials.  Returns new. */
json_t *launch_trials_json(const struct job *job);
/* The values of one (from 1) of those, {"lr": "0.1"}; returns new, NULL if it
 * has no such trial. */
json_t *launch_trials_values(const json_t *trials, long number);

/* Takes the one that JOB_COMPLETION_INDEX names. */
extern const struct provider_trials kubernetes_trials;

#endif
