/* SPDX-License-Identifier: Apache-2.0 */
/* gs:// URLs for core/stream/stream.h. */
#include <string.h>

#include "providers/google/base/endpoint.h"
#include "providers/google/storage/storage_objects.h"
#include "core/base/alloc.h"
#include "core/net/url.h"
#include "providers/google/auth/credentials.h"
#include "providers/google/auth/credentials_kind.h"
#include "providers/google/storage/storage_internal.h"

#define STORAGE_PREFIX "gs://"
#define BEARER "Authorization: Bearer "

static int locate(void *arg, const char *url, const char *generation,
		  const char *kept, struct buf *out, struct error *err)
{
	struct credentials *who = google_credentials(arg, err);
	struct arena *mem = arena_new();
	const char *bucket, *object, *project;
	int ret = -1;

	if (!who || storage_url_parse(url, mem, &bucket, &object, err) < 0)
		goto out;
	if (!*object) {
		error_set(err, ERROR_INVALID, "it names no object");
		goto out;
	}
	endpoint_add(SERVICE_STORAGE, NULL, out);
	storage_path_add(out, bucket, object);
	url_add_query(out, "alt", "media");
	if (generation)
		url_add_query(out, "generation", generation);
	if (kept)
		url_add_query(out, "ifGenerationNotMatch", kept);
	project = credentials_quota_project(who);
	if (project)
		url_add_query(out, "userProject", project);
	ret = 0;
out:
	arena_free(mem);
	return ret;
}

static int authorize(void *arg, struct buf *header, struct error *err)
{
	struct credentials *who = google_credentials(arg, err);
	struct buf token = { 0 };
	int ret = -1;

	/* Reserve the whole size, as growing would leave copies of the token
	 * behind. */
	buf_reserve(&token, SECRET_ROOM);
	buf_reserve(header, SECRET_ROOM);
	if (who && credentials_token(who, &token, err) == 0) {
		buf_puts(header, BEARER);
		buf_add(header, token.data, token.len);
		ret = 0;
	}
	secret_done(&token);
	return ret;
}

static void refused(void *arg, const char *header)
{
	struct error unused;
	struct credentials *who = google_credentials(arg, &unused);

	if (who && header)
		credentials_refused(who, header + strlen(BEARER));
}

static void *open_store(struct http *http, struct stream_scheme *out)
{
	struct google *google = google_open(http);

	*out = (struct stream_scheme){
		.prefix = STORAGE_PREFIX,
		.locate = locate,
		.authorize = authorize,
		.refused = refused,
		.arg = google,
	};
	return google;
}

static void close_store(void *ctx)
{
	google_close(ctx);
}

const struct stream_store stream_store_google = {
	.prefix = STORAGE_PREFIX,
	.open = open_store,
	.close = close_store,
};
