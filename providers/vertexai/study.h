/* SPDX-License-Identifier: Apache-2.0 */
/* AI Platform's HyperparameterSpec as the parts of Vertex AI's
 * HyperparameterTuningJob. */
#ifndef JOBRUN_VERTEX_STUDY_H
#define JOBRUN_VERTEX_STUDY_H

#include <jansson.h>

/*
 * Sets studySpec, maxTrialCount, parallelTrialCount and maxFailedTrialCount of
 * `job` from the message as message_json() gives it with its defaults.
 */
void study_put(const json_t *from, json_t *job);

#endif
