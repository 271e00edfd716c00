/* SPDX-License-Identifier: Apache-2.0 */
/* gs:// URLs for core/stream/stream.h. */
#include <stdatomic.h>
#include <stdlib.h>
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

/*
 * Where no credentials are set up, requests go without any, as for public
 * objects.  Once such a request is refused, they are searched after all, and
 * their lack is the error.
 */
struct storage_stream {
	struct google *google;
	atomic_bool is_refused;
};

/* The credentials; NULL and `*needed` false: none are needed so far. */
static struct credentials *find_who(struct storage_stream *stream, bool *needed,
				    struct error *err)
{
	*needed = atomic_load(&stream->is_refused) || credentials_are_set_up();
	return *needed ? google_credentials(stream->google, err) : NULL;
}

static int locate(void *arg, const char *url, const char *generation,
		  const char *kept, struct buf *out, struct error *err)
{
	bool needed;
	struct credentials *who = find_who(arg, &needed, err);
	struct arena *mem = arena_new();
	const char *bucket, *object, *project;
	int ret = -1;

	if ((needed && !who) ||
	    storage_url_parse(url, mem, &bucket, &object, err) < 0)
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
	project = who ? credentials_quota_project(who) : NULL;
	if (project)
		url_add_query(out, "userProject", project);
	ret = 0;
out:
	arena_free(mem);
	return ret;
}

static int authorize(void *arg, struct buf *header, struct error *err)
{
	bool needed;
	struct credentials *who = find_who(arg, &needed, err);
	struct buf token = { 0 };
	int ret = -1;

	if (!who)
		return needed ? -1 : 0;

	/* Reserve the whole size, as growing would leave copies of the token
	 * behind. */
	buf_reserve(&token, SECRET_ROOM);
	buf_reserve(header, SECRET_ROOM);
	if (credentials_token(who, &token, err) == 0) {
		buf_puts(header, BEARER);
		buf_add(header, token.data, token.len);
		ret = 0;
	}
	secret_done(&token);
	return ret;
}

static void refused(void *arg, const char *header)
{
	struct storage_stream *stream = arg;
	struct credentials *who;
	struct error unused;

	if (!*header) {
		atomic_store(&stream->is_refused, true);
		return;
	}
	who = google_credentials(stream->google, &unused);
	if (who)
		credentials_refused(who, header + strlen(BEARER));
}

static void *open_store(struct http *http, struct stream_scheme *out)
{
	struct storage_stream *stream = mem_alloc(sizeof(*stream));

	stream->google = google_open(http);
	*out = (struct stream_scheme){
		.prefix = STORAGE_PREFIX,
		.locate = locate,
		.authorize = authorize,
		.refused = refused,
		.arg = stream,
	};
	return stream;
}

static void close_store(void *ctx)
{
	struct storage_stream *stream = ctx;

	if (stream)
		google_close(stream->google);
	free(stream);
}

const struct stream_store stream_store_google = {
	.prefix = STORAGE_PREFIX,
	.open = open_store,
	.close = close_store,
};
