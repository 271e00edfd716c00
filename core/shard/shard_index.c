/* SPDX-License-Identifier: Apache-2.0 */
#include "core/shard/shard_index.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/beneath.h"
#include "core/base/json.h"
#include "core/base/text.h"

#define FORMAT_VERSION 1
#define NAME_LEN_MAX 255
#define CRC32C_LEN 8
#define SHA256_LEN 64

static int add(uint64_t *sum, uint64_t more)
{
	*sum += more;
	/* The addend is also below 2^63, so a wrap always shows here. */
	return *sum >> 63 ? -1 : 0;
}

int shard_index_sum(struct shard_index *index)
{
	size_t i;

	index->samples = index->files = index->bytes = 0;
	for (i = 0; i < index->count; i++)
		if (add(&index->samples, index->shards[i].samples) < 0 ||
		    add(&index->files, index->shards[i].files) < 0 ||
		    add(&index->bytes, index->shards[i].bytes) < 0)
			return -1;
	return 0;
}

/* ---- writing ----------------------------------------------------------- */

json_t *shard_entry_json(const struct shard_entry *entry)
{
	json_t *json = json_object();

	json_put_text(json, "name", entry->name);
	if (entry->url)
		json_put_text(json, "url", entry->url);
	json_put_int(json, "samples", (long long)entry->samples);
	json_put_int(json, "files", (long long)entry->files);
	json_put_int(json, "bytes", (long long)entry->bytes);
	json_put_text(json, "crc32c", entry->crc32c);
	if (entry->sha256.hex[0])
		json_put_text(json, "sha256", entry->sha256.hex);
	return json;
}

void shard_index_print(const struct shard_index *index, struct buf *out)
{
	json_t *json = json_object(), *shards = json_array();
	struct shard_index sums = *index;
	size_t i;

	shard_index_sum(&sums);
	json_put_int(json, "formatVersion", FORMAT_VERSION);
	json_put_int(json, "samples", (long long)sums.samples);
	json_put_int(json, "files", (long long)sums.files);
	json_put_int(json, "bytes", (long long)sums.bytes);
	if (index->class_count)
		json_put(json, "classes",
			 json_texts(index->classes, index->class_count));
	for (i = 0; i < index->count; i++)
		json_array_append_new(shards,
				      shard_entry_json(&index->shards[i]));
	json_put(json, "shards", shards);
	json_print(json, out);
	json_decref(json);
}

/* ---- reading ----------------------------------------------------------- */

static int refuse(const char *key, const char *why, struct error *err)
{
	return error_set(err, ERROR_INVALID, "\"%s\" %s", key, why);
}

static int read_number(const json_t *json, const char *key, long long min,
		       uint64_t *out, struct error *err)
{
	long long value = json_get_int(json, key, -1);

	if (value < min)
		return refuse(key,
			      min ? "must be a number above 0"
				  : "must be a number of 0 or more",
			      err);
	*out = (uint64_t)value;
	return 0;
}

static int read_name(const json_t *json, const char **out, struct error *err)
{
	const char *name = json_get_text(json, "name", "");

	if (!*name || strlen(name) > NAME_LEN_MAX || strchr(name, '/') ||
	    !strcmp(name, ".") || !strcmp(name, ".."))
		return refuse("name",
			      "must be the name of a file beside the "
			      "index",
			      err);
	if (!text_is_printable(name))
		return refuse("name", "has control characters", err);
	*out = name;
	return 0;
}

/* Copies a string of exactly this length and these characters. */
static int read_letters(const char *text, size_t len, const char *letters,
			char *out)
{
	if (strlen(text) != len || strspn(text, letters) != len)
		return -1;
	memcpy(out, text, len + 1);
	return 0;
}

/* Reads where the shard is, if it is not beside the index. */
static int read_url(const json_t *json, const char *name, struct arena *mem,
		    const char **out, struct error *err)
{
	const json_t *value = json_object_get(json, "url");
	const char *url = json_string_value(value), *base;

	if (!value)
		return 0;
	base = url && strstr(url, "://") ? strrchr(url, '/') : NULL;
	if (!base || strcmp(base + 1, name) != 0)
		return error_set(err, ERROR_INVALID,
				 "'%s': \"url\" must be a URL that ends in its "
				 "name",
				 name);
	*out = arena_strdup(mem, url);
	return 0;
}

int shard_entry_read(const json_t *json, struct arena *mem,
		     struct shard_entry *out, struct error *err)
{
	static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz"
				     "0123456789+/=";
	const char *sha256 = json_get_text(json, "sha256", NULL);
	struct shard_entry entry = { 0 };

	if (!json_is_object(json))
		return error_set(err, ERROR_INVALID,
				 "a shard is not an "
				 "object");
	if (read_name(json, &entry.name, err) < 0)
		return -1;
	if (read_number(json, "samples", 1, &entry.samples, err) < 0 ||
	    read_number(json, "files", 1, &entry.files, err) < 0 ||
	    read_number(json, "bytes", 1, &entry.bytes, err) < 0)
		return error_prefix(err, "'%s'", entry.name);
	if (entry.files < entry.samples)
		return error_set(err, ERROR_INVALID,
				 "'%s': there are fewer files than samples",
				 entry.name);
	if (read_letters(json_get_text(json, "crc32c", ""), CRC32C_LEN, base64,
			 entry.crc32c) < 0)
		return error_set(err, ERROR_INVALID,
				 "'%s': \"crc32c\" is no CRC-32C in base 64",
				 entry.name);
	if (json_object_get(json, "sha256") &&
	    (!sha256 || read_letters(sha256, SHA256_LEN, "0123456789abcdef",
				     entry.sha256.hex) < 0))
		return error_set(err, ERROR_INVALID,
				 "'%s': \"sha256\" is no SHA-256 in lower case",
				 entry.name);
	entry.name = arena_strdup(mem, entry.name);
	if (read_url(json, entry.name, mem, &entry.url, err) < 0)
		return -1;
	*out = entry;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static int find_twins(const struct shard_index *index, struct error *err)
{
	const char **names = mem_alloc(index->count * sizeof(*names));
	int ret = 0;
	size_t i;

	for (i = 0; i < index->count; i++)
		names[i] = index->shards[i].name;
	qsort(names, index->count, sizeof(*names), by_name);
	for (i = 1; i < index->count && ret == 0; i++)
		if (!strcmp(names[i], names[i - 1]))
			ret = error_set(err, ERROR_INVALID,
					"'%s' is listed twice", names[i]);
	free(names);
	return ret;
}

static int read_shards(const json_t *json, struct arena *mem,
		       struct shard_index *out, struct error *err)
{
	const json_t *shards = json_object_get(json, "shards");
	const json_t *shard;
	size_t i;

	if (!json_is_array(shards) || !json_array_size(shards))
		return refuse("shards", "must be a list with at least one",
			      err);
	out->count = json_array_size(shards);
	out->shards = arena_alloc(mem, out->count * sizeof(*out->shards));
	json_array_foreach(shards, i, shard)
	{
		if (shard_entry_read(shard, mem, &out->shards[i], err) < 0)
			return error_prefix(err, "shards[%zu]", i);
	}
	return find_twins(out, err);
}

static int read_classes(const json_t *json, struct arena *mem,
			struct shard_index *out, struct error *err)
{
	const json_t *classes = json_object_get(json, "classes");
	const json_t *class;
	size_t i;

	if (!classes)
		return 0;
	if (!json_is_array(classes))
		return refuse("classes", "must be a list of names", err);
	out->class_count = json_array_size(classes);
	out->classes =
		arena_alloc(mem, out->class_count * sizeof(*out->classes));
	json_array_foreach(classes, i, class)
	{
		if (!json_is_string(class))
			return refuse("classes", "must be a list of names",
				      err);
		out->classes[i] = arena_strdup(mem, json_string_value(class));
	}
	return 0;
}

static int check_sums(const json_t *json, const struct shard_index *index,
		      struct error *err)
{
	const struct {
		const char *key;
		uint64_t sum;
	} sums[] = {
		{ "samples", index->samples },
		{ "files", index->files },
		{ "bytes", index->bytes },
	};
	uint64_t said = 0;
	size_t i;

	for (i = 0; i < COUNT(sums); i++) {
		if (read_number(json, sums[i].key, 1, &said, err) < 0)
			return -1;
		if (said != sums[i].sum)
			return error_set(
				err, ERROR_INVALID,
				"\"%s\" is %llu, but its shards have %llu",
				sums[i].key, (unsigned long long)said,
				(unsigned long long)sums[i].sum);
	}
	return 0;
}

static int read_index(const json_t *json, struct arena *mem,
		      struct shard_index *out, struct error *err)
{
	long long version = json_get_int(json, "formatVersion", 0);

	if (!version)
		return error_set(err, ERROR_INVALID,
				 "it is not an index of shards");
	if (version != FORMAT_VERSION)
		return error_set(err, ERROR_INVALID,
				 "this version of jobrun reads the format "
				 "version %d, not %lld",
				 FORMAT_VERSION, version);
	if (read_shards(json, mem, out, err) < 0 ||
	    read_classes(json, mem, out, err) < 0)
		return -1;
	if (shard_index_sum(out) < 0)
		return error_set(err, ERROR_INVALID, "its sums are too large");
	return check_sums(json, out, err);
}

int shard_index_parse(const char *text, size_t len, const char *name,
		      struct arena *mem, struct shard_index *out,
		      struct error *err)
{
	struct shard_index index = { 0 };
	struct error why;
	json_t *json;
	int ret;

	if (len > SHARD_INDEX_MAX)
		return error_set(err, ERROR_INVALID,
				 "'%s' is larger than %d bytes", name,
				 SHARD_INDEX_MAX);
	/* A detailed message would quote the file, which may be any file. */
	json = json_read(text, len, name, &why);
	if (!json)
		return error_set(err, ERROR_INVALID,
				 "'%s' is not an index of shards: it is not "
				 "JSON",
				 name);
	ret = read_index(json, mem, &index, err);
	json_decref(json);
	if (ret < 0)
		return error_prefix(err, "'%s'", name);
	*out = index;
	return 0;
}

int shard_index_read(const char *root, const char *path, struct arena *mem,
		     struct shard_index *out, struct error *err)
{
	size_t len;
	char *text = beneath_read(root, path, SHARD_INDEX_MAX, &len, err);
	int ret;

	if (!text)
		return -1;
	ret = shard_index_parse(text, len, path, mem, out, err);
	free(text);
	return ret;
}
