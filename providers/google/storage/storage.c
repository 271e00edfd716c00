/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/google/storage/storage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "providers/google/api.h"
#include "providers/google/base/endpoint.h"
#include "providers/google/storage/storage_internal.h"

void storage_path_add(struct buf *out, const char *bucket, const char *object)
{
	buf_putc(out, 'b');
	api_path_add(out, bucket);
	buf_puts(out, "/o");
	if (object)
		api_path_add(out, object);
}

int storage_url_parse(const char *url, struct arena *mem, const char **bucket,
		      const char **object, struct error *err)
{
	const char *name = url + 5;
	size_t len;

	if (!text_starts(url, "gs://") || !(len = strcspn(name, "/")))
		return error_set(err, ERROR_INVALID,
				 "'%s' is not gs://BUCKET/OBJECT", url);
	*bucket = arena_strndup(mem, name, len);
	*object = arena_strdup(mem, name + len + (name[len] == '/'));
	return 0;
}

void storage_object_read(const json_t *body, struct arena *mem,
			 struct storage_object *out)
{
	out->exists = true;
	out->name = arena_strdup(mem, json_get_text(body, "name", ""));
	/* JSON has 64-bit numbers as strings. */
	out->size = strtoull(json_get_text(body, "size", "0"), NULL, 10);
	out->generation =
		strtoll(json_get_text(body, "generation", "0"), NULL, 10);
	out->crc32c = arena_strdup(mem, json_get_text(body, "crc32c", ""));
}

int storage_stat(struct google *google, const char *bucket, const char *object,
		 struct arena *mem, struct storage_object *out,
		 struct error *err)
{
	struct api_request request = { .service = SERVICE_STORAGE,
				       .method = "GET" };
	struct api_answer answer = { 0 };
	struct buf path = { 0 };
	int ret;

	storage_path_add(&path, bucket, object);
	request.path = path.data;
	ret = api_call(google, &request, &answer, err);
	*out = (struct storage_object){ .name = "", .crc32c = "" };
	if (ret == 0)
		storage_object_read(answer.body, mem, out);
	else if (answer.status == 404)
		ret = 0;
	else
		error_prefix(err, "gs://%s/%s", bucket, object);
	api_answer_done(&answer);
	buf_done(&path);
	return ret;
}

struct storage_listing {
	int (*each)(void *arg, const struct storage_object *object,
		    struct error *err);
	void *arg;
};

static int take_page(void *arg, const json_t *page, struct error *err)
{
	struct storage_listing *listing = arg;
	struct arena *mem = arena_new();
	struct storage_object object;
	const json_t *item;
	int ret = 0;
	size_t i;

	json_array_foreach(json_object_get(page, "items"), i, item)
	{
		storage_object_read(item, mem, &object);
		ret = listing->each(listing->arg, &object, err);
		if (ret < 0)
			break;
	}
	arena_free(mem);
	return ret;
}

int storage_list(struct google *google, const char *bucket, const char *prefix,
		 int (*each)(void *arg, const struct storage_object *object,
			     struct error *err),
		 void *arg, struct error *err)
{
	const char *const query[] = {
		"fields", "items(name,size,generation,crc32c),nextPageToken",
		"prefix", prefix, NULL
	};
	struct storage_listing listing = { each, arg };
	struct api_request request = { .service = SERVICE_STORAGE,
				       .method = "GET",
				       .query = query };
	struct buf path = { 0 };
	int ret;

	storage_path_add(&path, bucket, NULL);
	request.path = path.data;
	ret = api_list(google, &request, take_page, &listing, err);
	if (ret < 0)
		error_prefix(err, "gs://%s/%s", bucket, prefix);
	buf_done(&path);
	return ret;
}

int storage_delete(struct google *google, const char *bucket,
		   const char *object, long long generation, struct error *err)
{
	char number[24];
	const char *const query[] = { "ifGenerationMatch", number, NULL };
	struct api_request request = { .service = SERVICE_STORAGE,
				       .method = "DELETE",
				       .repeatable = true };
	struct api_answer answer = { 0 };
	struct buf path = { 0 };
	int ret;

	snprintf(number, sizeof(number), "%lld", generation);
	if (generation)
		request.query = query;
	storage_path_add(&path, bucket, object);
	request.path = path.data;
	ret = api_call(google, &request, &answer, err);
	if (ret < 0 && answer.status == 404)
		ret = 0;
	else if (ret < 0)
		error_prefix(err, "gs://%s/%s", bucket, object);
	api_answer_done(&answer);
	buf_done(&path);
	return ret;
}

/* Whether `object` is composed of all sources, judged by sizes and checksums;
 * returns -1 if that could not be found out. */
static int is_composed_of(struct google *google, const char *bucket,
			  const char *const *sources, size_t count,
			  const struct storage_object *object,
			  struct arena *mem, struct error *err)
{
	uint32_t sum = 0, one, whole;
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		struct storage_object part;

		if (storage_stat(google, bucket, sources[i], mem, &part, err) <
		    0)
			return -1;
		if (!part.exists || crc32c_parse(part.crc32c, &one) < 0)
			return 0;
		sum = crc32c_join(sum, one, part.size);
		size += part.size;
	}
	return object->exists && object->size == size &&
	       crc32c_parse(object->crc32c, &whole) == 0 && whole == sum;
}

/* Returns 1 if the existing object is the intended one, and sets `out`. */
static int adopt_composed(struct google *google, const char *bucket,
			  const char *const *sources, size_t count,
			  const char *name, struct arena *mem,
			  struct storage_object *out, struct error *err)
{
	struct storage_object object;
	int ret = storage_stat(google, bucket, name, mem, &object, err);

	if (ret == 0)
		ret = is_composed_of(google, bucket, sources, count, &object,
				     mem, err);
	if (ret == 1)
		*out = object;
	return ret;
}

int storage_compose(struct google *google, const char *bucket,
		    const char *const *sources, size_t count,
		    const char *object, long long generation, struct arena *mem,
		    struct storage_object *out, struct error *err)
{
	char number[24];
	const char *const query[] = { "ifGenerationMatch", number, NULL };
	json_t *body = json_object(), *list = json_array(), *one;
	struct api_request request = { .service = SERVICE_STORAGE,
				       .method = "POST",
				       .query = query,
				       .body = body,
				       .repeatable = true };
	struct api_answer answer = { 0 };
	struct buf path = { 0 };
	struct error other;
	size_t i;
	int ret;

	snprintf(number, sizeof(number), "%lld", generation);
	for (i = 0; i < count; i++) {
		one = json_object();
		json_put_text(one, "name", sources[i]);
		json_array_append_new(list, one);
	}
	json_put(body, "sourceObjects", list);
	storage_path_add(&path, bucket, object);
	buf_puts(&path, "/compose");
	request.path = path.data;
	ret = api_call(google, &request, &answer, err);
	if (ret == 0)
		storage_object_read(answer.body, mem, out);
	else if (answer.status == 412 &&
		 adopt_composed(google, bucket, sources, count, object, mem,
				out, &other) == 1)
		ret = 0;
	else
		error_prefix(err, "gs://%s/%s", bucket, object);
	api_answer_done(&answer);
	json_decref(body);
	buf_done(&path);
	return ret;
}
