/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/s3/s3_objects.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/crc32c.h"
#include "core/base/text.h"
#include "providers/s3/s3.h"
#include "providers/s3/s3_list.h"
#include "providers/s3/s3_upload.h"

struct s3_objects {
	struct http *http;
	struct s3 *s3;
};

/* How long an interrupted download is taken up again. */
static const struct retry_policy patience = {
	.first_ms = 1000,
	.max_ms = 64000,
	.total_ms = 600000,
};

static void *objects_open(const struct object_env *env, struct error *err)
{
	const struct http_options options = { .trace = env->trace_http,
					      .retry = env->retry };
	struct http *http = http_new(&options, err);
	struct s3_objects *all;

	if (!http)
		return NULL;
	all = mem_alloc(sizeof(*all));
	all->http = http;
	all->s3 = s3_open(http);
	return all;
}

static int objects_check(void *ctx, struct error *err)
{
	return s3_check(((struct s3_objects *)ctx)->s3, err);
}

static void objects_stop(void *ctx)
{
	http_stop(((struct s3_objects *)ctx)->http);
}

static void objects_close(void *ctx)
{
	struct s3_objects *all = ctx;

	s3_close(all->s3);
	http_free(all->http);
	free(all);
}

static const char *header(const struct http_response *answer, const char *name,
			  struct arena *mem)
{
	char *value = http_response_header(answer, name);
	const char *out = arena_strdup(mem, value ? value : "");

	free(value);
	return out;
}

/* A checksum of parts ("XXXXXX==-3") tells nothing of the whole. */
static const char *whole_crc(const char *text)
{
	uint32_t ignored;

	return crc32c_parse(text, &ignored) == 0 ? text : "";
}

static int objects_stat(void *ctx, const char *url, struct arena *mem,
			struct object *out, struct error *err)
{
	static const char *const signed_headers[] = {
		"x-amz-checksum-mode:ENABLED", NULL
	};
	struct s3_objects *all = ctx;
	struct s3_call call = { .method = "HEAD",
				.signed_headers = signed_headers };
	struct http_response answer = { 0 };
	int ret = s3_url_parse(url, mem, &call.bucket, &call.key, err);

	if (ret == 0)
		ret = s3_do(all->s3, &call, &answer, err);
	*out = (struct object){ .url = "", .version = "", .crc32c = "" };
	if (ret == 0 && answer.status / 100 == 2) {
		out->exists = true;
		out->url = arena_strdup(mem, url);
		out->size_bytes = strtoull(
			header(&answer, "content-length", mem), NULL, 10);
		out->version = header(&answer, "etag", mem);
		out->crc32c = whole_crc(
			header(&answer, "x-amz-checksum-crc32c", mem));
	} else if (ret == 0 && answer.status != 404) {
		ret = s3_refuse(&answer, err);
	}
	if (ret < 0)
		error_prefix(err, "%s", url);
	http_response_done(&answer);
	return ret;
}

struct s3_download {
	object_sink *sink;
	void *arg;
	uint64_t at, end;
	uint32_t crc;
	bool wrong; /* not the requested bytes */
};

static int take(void *arg, const struct http_response *answer, const char *data,
		size_t len)
{
	struct s3_download *down = arg;

	/* Status 200 gives the whole object from its start. */
	if ((answer->status != 206 && down->at) || len > down->end - down->at) {
		down->wrong = true;
		return -1;
	}
	if (down->sink(down->arg, data, len) < 0)
		return -1;
	down->crc = crc32c_add(down->crc, data, len);
	down->at += len;
	return 0;
}

/* Reads the rest.  1: it broke off. */
static int get_rest(struct s3 *s3, struct s3_call *call,
		    const struct object *object, struct s3_download *down,
		    struct error *err)
{
	char *range = mem_printf("Range: bytes=%llu-%llu",
				 (unsigned long long)down->at,
				 (unsigned long long)down->end - 1);
	char *match = mem_printf("If-Match: %s", object->version);
	const char *const headers[] = { range, *object->version ? match : NULL,
					NULL };
	struct http_response answer = { 0 };
	int ret;

	call->headers = headers;
	call->sink = take;
	call->arg = down;
	ret = s3_do(s3, call, &answer, err);
	if (ret < 0 && down->wrong)
		error_set(err, ERROR_FAILED,
			  "the store sends bytes other than those requested");
	else if (ret < 0 && err->code == ERROR_UNREACHABLE)
		ret = 1;
	else if (ret == 0 && answer.status == 412)
		ret = error_set(err, ERROR_FAILED, "it was replaced");
	else if (ret == 0 && answer.status / 100 != 2)
		ret = s3_refuse(&answer, err);
	http_response_done(&answer);
	free(range);
	free(match);
	return ret;
}

static int download(struct s3 *s3, struct s3_call *call,
		    const struct object *object, struct s3_download *down,
		    struct error *err)
{
	int64_t begun_ms = time_monotonic_ms();
	uint64_t before;
	int ret = 0, failed = 0;

	while (ret >= 0 && down->at < down->end) {
		before = down->at;
		ret = get_rest(s3, call, object, down, err);
		if (down->at > before) {
			begun_ms = time_monotonic_ms();
			failed = 0;
		}
		if (ret == 0 && down->at == before)
			return error_set(err, ERROR_FAILED,
					 "the object is shorter than "
					 "announced");
		if (ret > 0 &&
		    (time_monotonic_ms() - begun_ms > patience.total_ms ||
		     http_sleep(s3_http(s3),
				retry_delay_ms(&patience, ++failed, 0),
				err) < 0))
			return -1;
	}
	return ret;
}

static int objects_read(void *ctx, const struct object *object, uint64_t offset,
			uint64_t len, object_sink *sink, void *arg,
			struct error *err)
{
	struct s3_objects *all = ctx;
	struct arena *mem = arena_new();
	struct s3_download down = {
		.sink = sink, .arg = arg, .at = offset, .end = offset + len
	};
	struct s3_call call = { 0 };
	char crc[9];
	int ret = s3_url_parse(object->url, mem, &call.bucket, &call.key, err);

	if (ret == 0)
		ret = download(all->s3, &call, object, &down, err);
	crc32c_format(down.crc, crc);
	if (ret == 0 && !offset && len == object->size_bytes &&
	    *object->crc32c && strcmp(object->crc32c, crc) != 0)
		ret = error_set(err, ERROR_FAILED,
				"it arrived corrupted: its CRC-32C is %s, not "
				"%.20s",
				crc, object->crc32c);
	if (ret < 0)
		error_prefix(err, "%s", object->url);
	arena_free(mem);
	return ret;
}

static int objects_put(void *ctx, const char *url, int fd,
		       const struct object_put *how, struct arena *mem,
		       struct object *out, struct error *err)
{
	struct s3_objects *all = ctx;
	const char *bucket, *key;
	struct object found;
	uint64_t size;
	uint32_t sum;
	char crc[9];
	int ret;

	if (s3_url_parse(url, mem, &bucket, &key, err) < 0)
		return -1;
	ret = s3_upload(all->s3, bucket, key, fd, how, &sum, &size, err);
	if (ret < 0)
		return error_prefix(err, "%s", url);
	if (objects_stat(ctx, url, mem, &found, err) < 0)
		return -1;
	crc32c_format(sum, crc);
	/* What an earlier try has left is ours. */
	if (!found.exists || found.size_bytes != size ||
	    (ret && strcmp(found.crc32c, crc) != 0))
		return error_set(err, ERROR_FAILED,
				 "%s: another object is there", url);
	if (!*found.crc32c)
		found.crc32c = arena_strdup(mem, crc);
	if (out)
		*out = found;
	return 0;
}

struct s3_folder {
	const char *bucket;
	object_each *each;
	void *arg;
};

static int list_one(void *arg, const struct s3_entry *entry, struct error *err)
{
	struct s3_folder *listing = arg;
	char *url = mem_printf("s3://%s/%s", listing->bucket, entry->key);
	const struct object object = { .exists = true,
				       .url = url,
				       .size_bytes = entry->size,
				       .version = entry->tag,
				       .crc32c = "" };
	int ret = listing->each(listing->arg, &object, err);

	free(url);
	return ret;
}

static int objects_list(void *ctx, const char *folder, object_each *each,
			void *arg, struct error *err)
{
	struct s3_objects *all = ctx;
	struct arena *mem = arena_new();
	struct s3_folder listing = { .each = each, .arg = arg };
	const char *prefix;
	int ret;

	ret = s3_url_parse(folder, mem, &listing.bucket, &prefix, err);
	/* With the slash, "a/b" itself and "a/bc" are not below "a/b". */
	if (ret == 0 && *prefix && !text_ends(prefix, "/"))
		prefix = arena_printf(mem, "%s/", prefix);
	if (ret == 0)
		ret = s3_list(all->s3, listing.bucket, prefix, list_one,
			      &listing, err);
	arena_free(mem);
	return ret;
}

static int objects_remove(void *ctx, const char *url, struct error *err)
{
	struct s3_objects *all = ctx;
	struct arena *mem = arena_new();
	struct s3_call call = { .method = "DELETE" };
	struct http_response answer = { 0 };
	int ret = s3_url_parse(url, mem, &call.bucket, &call.key, err);

	if (ret == 0)
		ret = s3_do(all->s3, &call, &answer, err);
	if (ret == 0 && answer.status / 100 != 2 && answer.status != 404)
		ret = s3_refuse(&answer, err);
	if (ret < 0)
		error_prefix(err, "%s", url);
	http_response_done(&answer);
	arena_free(mem);
	return ret;
}

const struct object_scheme object_scheme_s3 = {
	.prefix = "s3://",
	.open = objects_open,
	.check = objects_check,
	.stop = objects_stop,
	.close = objects_close,
	.stat = objects_stat,
	.read = objects_read,
	.put = objects_put,
	.list = objects_list,
	.remove = objects_remove,
};
