/* SPDX-License-Identifier: Apache-2.0 */
/* s3:// URLs for core/stream/stream.h. */
#include "providers/s3/s3.h"
#include "providers/s3/s3_objects.h"

#define S3_PREFIX "s3://"

/* A version of an object is named by its tag, in a header. */
static int locate(void *arg, const char *url, const char *generation,
		  const char *kept, struct buf *out, struct error *err)
{
	struct arena *mem = arena_new();
	struct s3_call call = { 0 };
	int ret = s3_url_parse(url, mem, &call.bucket, &call.key, err);

	(void)generation;
	(void)kept;
	if (ret == 0 && !*call.key)
		ret = error_set(err, ERROR_INVALID, "it names no object");
	if (ret == 0)
		ret = s3_sign(arg, &call, out, err);
	arena_free(mem);
	return ret;
}

/* The URL is signed. */
static int authorize(void *arg, struct buf *header, struct error *err)
{
	(void)arg;
	(void)header;
	(void)err;
	return 0;
}

static void refused(void *arg, const char *header)
{
	(void)arg;
	(void)header;
}

static void *open_store(struct http *http, struct stream_scheme *out)
{
	struct s3 *s3 = s3_open(http);

	*out = (struct stream_scheme){
		.prefix = S3_PREFIX,
		.by_tag = true,
		.locate = locate,
		.authorize = authorize,
		.refused = refused,
		.arg = s3,
	};
	return s3;
}

static void close_store(void *ctx)
{
	s3_close(ctx);
}

const struct stream_store stream_store_s3 = {
	.prefix = S3_PREFIX,
	.open = open_store,
	.close = close_store,
};
