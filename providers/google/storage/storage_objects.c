/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/auth/credentials.h"
#include "providers/google/base/endpoint.h"
#include "providers/google/storage/storage_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "providers/google/storage/storage.h"

struct google_objects {
	struct http *http;
	struct google *google;
};

static void *objects_open(const struct object_env *env, struct error *err)
{
	const struct http_options options = { .trace = env->trace_http,
					      .retry = env->retry };
	struct http *http = http_new(&options, err);
	struct google_objects *all;

	if (!http)
		return NULL;
	all = mem_alloc(sizeof(*all));
	all->http = http;
	all->google = google_open(http);
	return all;
}

static int objects_check(void *ctx, struct error *err)
{
	struct google_objects *all = ctx;
	struct buf url = { 0 };
	bool is_emulated;

	endpoint_add(SERVICE_STORAGE, NULL, &url);
	is_emulated = endpoint_is_emulated(url.data);
	buf_done(&url);
	if (is_emulated && !credentials_are_set_up())
		return 0;
	return google_credentials(all->google, err) ? 0 : -1;
}

static void objects_stop(void *ctx)
{
	struct google_objects *all = ctx;

	http_stop(all->http);
}

static void objects_close(void *ctx)
{
	struct google_objects *all = ctx;

	google_close(all->google);
	http_free(all->http);
	free(all);
}

static void fill(const char *bucket, const struct storage_object *from,
		 struct arena *mem, struct object *out)
{
	*out = (struct object){ .exists = from->exists,
				.url = "",
				.version = "",
				.crc32c = from->crc32c };
	if (!from->exists)
		return;
	out->url = arena_printf(mem, "gs://%s/%s", bucket, from->name);
	out->size_bytes = from->size;
	out->version = arena_printf(mem, "%lld", from->generation);
}

static int objects_stat(void *ctx, const char *url, struct arena *mem,
			struct object *out, struct error *err)
{
	struct google_objects *all = ctx;
	struct storage_object found;
	const char *bucket, *name;

	if (storage_url_parse(url, mem, &bucket, &name, err) < 0 ||
	    storage_stat(all->google, bucket, name, mem, &found, err) < 0)
		return -1;
	fill(bucket, &found, mem, out);
	return 0;
}

static int objects_read(void *ctx, const struct object *object, uint64_t offset,
			uint64_t len, object_sink *sink, void *arg,
			struct error *err)
{
	struct google_objects *all = ctx;
	struct storage_object from = { .exists = true,
				       .size = object->size_bytes,
				       .crc32c = object->crc32c };
	struct arena *mem = arena_new();
	const char *bucket;
	int ret = storage_url_parse(object->url, mem, &bucket, &from.name, err);

	from.generation = strtoll(object->version, NULL, 10);
	if (ret == 0)
		ret = storage_read(all->google, bucket, &from, offset, len,
				   sink, arg, err);
	arena_free(mem);
	return ret;
}

static int objects_put(void *ctx, const char *url, int fd,
		       const struct object_put *how, struct arena *mem,
		       struct object *out, struct error *err)
{
	struct google_objects *all = ctx;
	struct storage_put put = { .content_type = how->content_type,
				   .broken = how->broken,
				   .arg = how->arg };
	struct storage_object found;
	const char *bucket, *name;

	if (storage_url_parse(url, mem, &bucket, &name, err) < 0)
		return -1;
	if (how->version) {
		put.generation = strtoll(how->version, NULL, 10);
	} else if (how->replace) {
		if (storage_stat(all->google, bucket, name, mem, &found, err) <
		    0)
			return -1;
		put.generation = found.exists ? found.generation : 0;
	}
	if (storage_put_file(all->google, bucket, name, fd, &put, mem, &found,
			     err) < 0)
		return -1;
	if (out)
		fill(bucket, &found, mem, out);
	return 0;
}

struct object_listing {
	const char *bucket;
	object_each *each;
	void *arg;
};

static int list_one(void *arg, const struct storage_object *found,
		    struct error *err)
{
	struct object_listing *listing = arg;
	struct arena *mem = arena_new();
	struct object object;
	int ret;

	fill(listing->bucket, found, mem, &object);
	ret = listing->each(listing->arg, &object, err);
	arena_free(mem);
	return ret;
}

static int objects_list(void *ctx, const char *folder, object_each *each,
			void *arg, struct error *err)
{
	struct google_objects *all = ctx;
	struct arena *mem = arena_new();
	struct object_listing listing = { .each = each, .arg = arg };
	const char *prefix;
	int ret;

	ret = storage_url_parse(folder, mem, &listing.bucket, &prefix, err);
	/* With the slash, "a/b" itself and "a/bc" are not below "a/b". */
	if (ret == 0 && *prefix && !text_ends(prefix, "/"))
		prefix = arena_printf(mem, "%s/", prefix);
	if (ret == 0)
		ret = storage_list(all->google, listing.bucket, prefix,
				   list_one, &listing, err);
	arena_free(mem);
	return ret;
}

static int objects_remove(void *ctx, const char *url, struct error *err)
{
	struct google_objects *all = ctx;
	struct arena *mem = arena_new();
	const char *bucket, *name;
	int ret = storage_url_parse(url, mem, &bucket, &name, err);

	if (ret == 0)
		ret = storage_delete(all->google, bucket, name, 0, err);
	arena_free(mem);
	return ret;
}

const struct object_scheme object_scheme_google = {
	.prefix = "gs://",
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
