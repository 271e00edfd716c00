/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 'jobrun launch --trials': this container is one of the trials of a run, and
 * the place supplies only its index.  All containers get the same arguments:
 *
 *	{"metric": "accuracy", "names": ["lr", "units"],
 *	 "values": [["0.1", "64"], ["0.01", "64"]], "jobDir": "gs://b/run"}
 *
 * The values are listed rather than drawn here: another version of jobrun, or
 * another libm, would draw others than those recorded.
 */
#ifndef JOBRUN_LAUNCH_TRIAL_H
#define JOBRUN_LAUNCH_TRIAL_H

#include <jansson.h>

#include "core/provider/extension.h"

/* Makes these arguments; cannot fail, as the job has trials.  Returns new. */
json_t *launch_trials_json(const struct job *job);
/* The values of a trial (from 1), {"lr": "0.1"}; returns new, or NULL if there
 * is no such trial. */
json_t *launch_trials_values(const json_t *trials, long number);

/* Selects the trial that JOB_COMPLETION_INDEX names. */
extern const struct provider_trials kubernetes_trials;

#endif
