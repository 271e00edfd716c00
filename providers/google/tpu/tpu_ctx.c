/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/tpu/tpu_ctx.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/store/store.h"
#include "providers/google/storage/storage.h"

#define OBJECT_MAX (64 << 10)
/* Below the folder of the store, for all processes that use it. */
#define LISTS "google-lists"

static int take(void *arg, const char *data, size_t len)
{
	buf_add(arg, data, len);
	return 0;
}

static int get_object(void *arg, const char *url, struct arena *mem,
		      const char **out, const char **version, struct error *err)
{
	const struct tpu_ctx *ctx = arg;
	const char *bucket, *name;
	struct storage_object object;
	struct buf text = { 0 };
	int ret = storage_url_parse(url, mem, &bucket, &name, err);

	*out = NULL;
	*version = "";
	if (ret == 0)
		ret = storage_stat(ctx->google, bucket, name, mem, &object,
				   err);
	if (ret < 0 || !object.exists)
		return ret;
	*version = arena_printf(mem, "%lld", object.generation);
	if (object.size > OBJECT_MAX)
		return 0;
	ret = storage_read(ctx->google, bucket, &object, 0, object.size, take,
			   &text, err);
	if (ret == 0)
		*out = arena_strdup(mem, buf_text(&text));
	buf_done(&text);
	return ret;
}

static int put_object(void *arg, const char *url, const char *text,
		      const char *version, struct error *err)
{
	const struct tpu_ctx *ctx = arg;
	const struct storage_put how = { .content_type = "application/json",
					 .generation =
						 strtoll(version, NULL, 10) };
	struct arena *mem = arena_new();
	const char *bucket, *name;
	int fd = memfd_create("object", MFD_CLOEXEC);
	int ret = -1;

	if (fd < 0 || fd_write(fd, text, strlen(text)) < 0)
		error_errno(err, "cannot write '%s'", url);
	else if (storage_url_parse(url, mem, &bucket, &name, err) == 0)
		ret = storage_put_file(ctx->google, bucket, name, fd, &how, mem,
				       NULL, err);
	if (fd >= 0)
		close(fd);
	arena_free(mem);
	return ret;
}

static int remove_object(void *arg, const char *url, const char *version,
			 struct error *err)
{
	const struct tpu_ctx *ctx = arg;
	struct arena *mem = arena_new();
	const char *bucket, *name;
	int ret = storage_url_parse(url, mem, &bucket, &name, err);

	if (ret == 0)
		ret = storage_delete(ctx->google, bucket, name,
				     strtoll(version, NULL, 10), err);
	arena_free(mem);
	return ret;
}

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

	char *lists =
		env->store ? path_join(store_folder(env->store), LISTS) : NULL;

	tpu_maker_init(&ctx->maker);
	shared_lists_init(&ctx->lists, lists);
	free(lists);
	if (supervised_init(&ctx->supervised, env, provider, err) == 0)
		ctx->http = http_new(&options, err);
	if (!ctx->http) {
		tpu_ctx_close(ctx);
		return NULL;
	}
	ctx->supervised.specify = specify;
	ctx->supervised.objects =
		(struct claim_objects){ get_object, put_object, ctx };
	ctx->supervised.remove_object = remove_object;
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
	shared_lists_done(&ctx->lists);
	google_close(ctx->google);
	http_free(ctx->http);
	free(ctx);
}
