/* SPDX-License-Identifier: Apache-2.0 */
/* Vertex AI: each run is a CustomJob, or with hyperparameters a
 * HyperparameterTuningJob, of aiplatform.googleapis.com v1. */
#ifndef JOBRUN_VERTEX_AI_H
#define JOBRUN_VERTEX_AI_H

#include "core/provider.h"

extern const struct provider provider_vertex_ai;

#endif
