/* SPDX-License-Identifier: Apache-2.0 */
/* AI Platform Training: each run is a job of its API, ml.googleapis.com v1. */
#ifndef JOBRUN_AI_PLATFORM_H
#define JOBRUN_AI_PLATFORM_H

#include "core/provider.h"

extern const struct provider provider_ai_platform;

/* See providers/google/uses.h. */
extern const struct field_use ai_platform_uses[];

#endif
