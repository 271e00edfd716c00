/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner of a TPU: its labels name the store whose run it was made for, and
 * until when that is valid.  Creating it under its name decides who comes first.
 */
#ifndef JOBRUN_TPU_OWNER_H
#define JOBRUN_TPU_OWNER_H

#include <jansson.h>

#include "providers/google/tpu/tpu_ctx.h"

void tpu_owner_put(const struct tpu_ctx *ctx, json_t *labels);
/* Adds the owner to the outputs of a resource that is there, with a note, if it
 * is another one and its lease is not over.  `waits`: nobody can renew it yet,
 * and it has no end. */
void tpu_owner_tell(const struct tpu_ctx *ctx, const json_t *labels, bool waits,
		    const struct resource *it, json_t *outputs);

/* Extends the lease of a node with the labels `old` by so many seconds from now,
 * unless it is another owner's by now. */
int tpu_owner_renew(const struct tpu_ctx *ctx, const char *path,
		    const json_t *old, long lease_s, struct error *err);

#endif
