/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/tpu/tpu_ctx.h"

#include <stdlib.h>

struct tpu_ctx *
tpu_ctx_open(const struct provider_env *env, const char *provider,
	     const struct tpu_maker *maker,
	     int (*specify)(const struct supervised *as, const struct job *job,
			    const struct resource *want, struct arena *mem,
			    struct run_spec *out, const char **missing,
			    struct error *err),
	     struct error *err)
{
	const struct http_options options = { .trace = env->trace_http };
	struct tpu_ctx *ctx = mem_alloc(sizeof(*ctx));

	tpu_maker_init(&ctx->maker);
	if (supervised_init(&ctx->supervised, env, provider, err) == 0)
		ctx->http = http_new(&options, err);
	if (!ctx->http) {
		tpu_ctx_close(ctx);
		return NULL;
	}
	ctx->supervised.specify = specify;
	ctx->google = google_open(ctx->http);
	ctx->maker.google = ctx->google;
	ctx->maker.api = maker->api;
	ctx->maker.request = maker->request;
	ctx->maker.arg = ctx;
	return ctx;
}

void tpu_ctx_close(void *arg)
{
	struct tpu_ctx *ctx = arg;

	if (!ctx)
		return;
	tpu_maker_done(&ctx->maker);
	google_close(ctx->google);
	http_free(ctx->http);
	free(ctx);
}
