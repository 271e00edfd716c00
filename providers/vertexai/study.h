/* SPDX-License-Identifier: Apache-2.0 */
/* Converts AI Platform's HyperparameterSpec to the parts of Vertex AI's
 * HyperparameterTuningJob, and reads the results. */
#ifndef JOBRUN_STUDY_H
#define JOBRUN_STUDY_H

#include <jansson.h>

#include "core/store/store.h"

/*
 * Sets studySpec, maxTrialCount, parallelTrialCount and maxFailedTrialCount of
 * `job` from the message, in the form of message_json() with defaults.
 */
void study_put(const json_t *from, json_t *job);

/* Reads the result of one trial, a Trial; strings live in `mem`. */
void study_read_trial(const json_t *trial, struct arena *mem,
		      struct trial_record *out);

#endif
