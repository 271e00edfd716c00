/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose run a TPU was made for: its labels name the owner of a store, and until
 * when that is valid.  Creating it under its name decides who comes first.
 */
#ifndef JOBRUN_TPU_OWNER_H
#define JOBRUN_TPU_OWNER_H

#include <jansson.h>

#include "providers/google/tpu/tpu_ctx.h"

void tpu_owner_put(const struct tpu_ctx *ctx, json_t *labels);
/* The owner, if it is another and its lease is not over; or NULL.  Borrows
 * from the labels.  `waits`: nobody can renew it yet, and it has no end. */
const char *tpu_owner_other(const struct tpu_ctx *ctx, const json_t *labels,
			    bool waits);
/* Adds that to the outputs of a resource that is there, with a note. */
void tpu_owner_tell(const struct tpu_ctx *ctx, const json_t *labels, bool waits,
		    const struct resource *it, json_t *outputs);

#endif
