/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the settings of `jobrun: vertex-ai:` to a request. */
#ifndef JOBRUN_VERTEXAI_OWN_H
#define JOBRUN_VERTEXAI_OWN_H

#include <jansson.h>

#include "core/base/alloc.h"
#include "providers/vertexai/vertexai_block.h"

/* Adds to a worker pool, which has its machineSpec.  `block` may be NULL. */
void block_put_pool(const struct vertex_ai_block *block, json_t *pool);

/* Adds to the specification of a job.  `mem` must live as long as the call. */
void block_put_spec(const struct vertex_ai_block *block, struct arena *mem,
		    json_t *spec);

#endif
