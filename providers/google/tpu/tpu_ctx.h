/* SPDX-License-Identifier: Apache-2.0 */
/* The context of a TPU provider while it is open. */
#ifndef JOBRUN_TPU_CTX_H
#define JOBRUN_TPU_CTX_H

#include "core/net/http.h"
#include "core/supervise/supervised.h"
#include "providers/google/google.h"
#include "providers/google/shared_list.h"
#include "providers/google/tpu/tpu_making.h"

struct tpu_ctx {
	struct supervised supervised; /* the first member */
	struct http *http;
	struct google *google;
	struct tpu_maker maker;
	struct shared_lists lists; /* see tpu_follow.h */
};

/* Returns new, to be closed, or NULL.  Copies `api` and `request` of `maker`;
 * `request` gets the context as argument. */
struct tpu_ctx *
tpu_ctx_open(const struct provider_env *env, const char *provider,
	     const struct tpu_maker *maker,
	     int (*specify)(const struct supervised *as, const struct job *job,
			    const struct resource *want, struct arena *mem,
			    struct run_spec *out, const char **missing,
			    struct error *err),
	     struct error *err);
/* For struct provider; accepts NULL. */
void tpu_ctx_close(void *ctx);

#endif
