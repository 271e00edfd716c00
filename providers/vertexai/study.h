/* SPDX-License-Identifier: Apache-2.0 */
/* AI Platform's HyperparameterSpec as the parts of Vertex AI's
 * HyperparameterTuningJob, and what comes of that. */
#ifndef JOBRUN_STUDY_H
#define JOBRUN_STUDY_H

#include <jansson.h>

#include "core/store/store.h"

/*
 * Sets studySpec, maxTrialCount, parallelTrialCount and maxFailedTrialCount of
 * `job` from the message as message_json() gives it with its defaults.
 */
void study_put(const json_t *from, json_t *job);

/* Reads the result of one trial, a Trial; texts live in `mem`. */
void study_read_trial(const json_t *trial, struct arena *mem,
		      struct trial_record *out);

#endif
