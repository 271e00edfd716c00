/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOBRUN_VERTEXAI_USES_H
#define JOBRUN_VERTEXAI_USES_H

#include "core/provider/provider.h"

/* How the fields of a job are used on Vertex AI, up to a row with no path; see
 * providers/google/managed/uses.h. */
extern const struct field_use vertex_ai_uses[];

#endif
