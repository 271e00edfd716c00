/* SPDX-License-Identifier: Apache-2.0 */
/* AI Platform Training: each run is a job of its API, ml.googleapis.com v1. */
#ifndef JOBRUN_AIPLATFORM_H
#define JOBRUN_AIPLATFORM_H

#include "core/provider/provider.h"

extern const struct provider provider_ai_platform;

/* See providers/google/managed/uses.h. */
extern const struct field_use ai_platform_uses[];
extern const struct topology_reader reader_aiplatform;

#endif
