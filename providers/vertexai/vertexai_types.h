/* SPDX-License-Identifier: Apache-2.0 */
/* The fields that jobrun.vertex-ai.customJob may and may not have. */
#ifndef JOBRUN_VERTEXAI_TYPES_H
#define JOBRUN_VERTEXAI_TYPES_H

#include "core/job/body.h"

extern const struct body_types vertex_types;
extern const struct body_form vertex_job_form;

void vertex_job_check(const json_t *body, tree_tell *tell, void *ctx);

#endif
