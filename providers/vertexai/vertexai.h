/* SPDX-License-Identifier: Apache-2.0 */
/* Vertex AI: each run is a CustomJob, or with hyperparameters a
 * HyperparameterTuningJob, of aiplatform.googleapis.com v1. */
#ifndef JOBRUN_VERTEXAI_H
#define JOBRUN_VERTEXAI_H

#include "core/provider/provider.h"

extern const struct provider provider_vertex_ai;
extern const struct topology_reader reader_vertexai;

#endif
