/* SPDX-License-Identifier: Apache-2.0 */
/* What a provider of TPUs has while it is open. */
#ifndef JOBRUN_TPU_CTX_H
#define JOBRUN_TPU_CTX_H

#include "core/net/http.h"
#include "core/supervise/supervised.h"
#include "providers/google/google.h"
#include "providers/google/tpu/tpu_making.h"

struct tpu_ctx {
	struct supervised supervised; /* the first member */
	struct http *http;
	struct google *google;
	struct tpu_maker maker;
};

/* Returns new, to be closed, or NULL.  Of `maker`, `api` and `request` are
 * taken: that gets the context. */
struct tpu_ctx *
tpu_ctx_open(const struct provider_env *env, const char *provider,
	     const struct tpu_maker *maker,
	     int (*specify)(const struct supervised *as, const struct job *job,
			    const struct resource *want, struct arena *mem,
			    struct run_spec *out, const char **missing,
			    struct error *err),
	     struct error *err);
/* For struct provider; NULL is fine. */
void tpu_ctx_close(void *ctx);

#endif
