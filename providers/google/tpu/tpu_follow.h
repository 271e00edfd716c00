/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at nodes and places in the queue that are waited for.  The processes of
 * one store that wait for something in the same zone share a list of it
 * (shared_list.h), so thirty of them ask no more often than one.
 */
#ifndef JOBRUN_TPU_FOLLOW_H
#define JOBRUN_TPU_FOLLOW_H

#include "providers/google/tpu/tpu_ctx.h"

/*
 * Like tpu_get(), but the answer may be five seconds old, and has no metadata
 * then: that may hold what must not be in a file.  So only "not yet" is to be
 * believed; whatever else it says is to be asked for.
 */
int tpu_follow(struct tpu_ctx *ctx, enum tpu_api api, const char *path,
	       json_t **out, struct error *err);

#endif
