/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connects objects and the cache: checks whether an entry is the object, and
 * adds objects to the cache.  Each block from the cache is checked before it is
 * written; from a damaged one on, the object comes from its server.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/stream/stream_internal.h"

static char *copy(const char *text)
{
	return text ? mem_strdup(text) : NULL;
}

static bool is_strong(const char *etag)
{
	return etag && *etag == '"';
}

void kept_done(struct kept *kept)
{
	free(kept->etag);
	free(kept->modified);
	free(kept->generation);
	free(kept->crc32c);
	*kept = (struct kept){ 0 };
}

/* Whether the index identifies the entry, so that no server need be asked. */
static bool is_by_index(const struct object_stream *object,
			const struct cache_version *version)
{
	return object->size == version->size && object->crc32c &&
	       !strcmp(object->crc32c, version->crc32c);
}

/* Whether the server can be asked if the entry is current. */
static bool can_be_asked(const struct object_stream *object,
			 const struct cache_version *version)
{
	return (object->size == STREAM_SIZE_UNKNOWN ||
		object->size == version->size) &&
	       !object->crc32c &&
	       (object->scheme && !object->scheme->by_tag
			? version->generation != NULL
			: is_strong(version->etag));
}

void stream_look_up(struct stream *stream, struct object_stream *object)
{
	struct cache_entry *entry =
		cache_find(stream->options->cache, object->name);
	const struct cache_version *version;

	object->looked_up = true;
	if (!entry)
		return;
	version = cache_entry_version(entry);
	pthread_mutex_lock(&stream->lock);
	if (is_by_index(object, version)) {
		object->known = object->cached = true;
		object->planned = object->size;
	} else if (can_be_asked(object, version)) {
		object->kept.size = version->size;
		object->kept.etag = copy(version->etag);
		object->kept.modified = copy(version->modified);
		object->kept.generation = copy(version->generation);
		object->kept.crc32c = copy(version->crc32c);
	}
	pthread_mutex_unlock(&stream->lock);
	cache_entry_close(entry);
}

void object_take_kept(struct object_stream *object)
{
	struct kept *kept = &object->kept;

	object->known = object->cached = true;
	object->size = object->planned = kept->size;
	object->etag = kept->etag;
	object->modified = kept->modified;
	object->generation = kept->generation;
	object->crc32c = kept->crc32c;
	*kept = (struct kept){ 0 };
}

void object_keep(struct object_stream *object)
{
	struct cache *cache = object->stream->options->cache;

	/* An object without a version could never be recognized again. */
	if (cache && !object->is_encoded &&
	    (is_strong(object->etag) || object->generation || object->crc32c))
		object->writer =
			cache_writer_new(cache, object->name, object->size);
}

void object_kept(struct object_stream *object)
{
	const struct cache_version version = {
		.size = object->size,
		.etag = object->etag,
		.modified = object->modified,
		.generation = object->generation,
	};

	if (object->writer)
		cache_writer_end(object->writer, &version);
	cache_writer_free(object->writer);
	object->writer = NULL;
}

/* Whether the object has another version by now. */
static bool is_other(const struct object_stream *object,
		     const struct cache_version *version)
{
	return object->size != version->size ||
	       strcmp(object->crc32c, version->crc32c) != 0;
}

/* Switches to the network from the current position on. */
static void retreat(struct object_stream *object)
{
	pthread_mutex_lock(&object->stream->lock);
	object->cached = false;
	object->retreated = true;
	/* The server must confirm what only the index vouched for. */
	object->known = is_strong(object->etag) || object->generation;
	object->planned = object->at;
	pthread_mutex_unlock(&object->stream->lock);
}

/* Adds the blocks already written to the cache again, before the rest. */
static void keep_written(struct object_stream *object,
			 struct cache_entry *entry, char *data)
{
	uint64_t number, count = object->at / CACHE_BLOCK;
	size_t len;

	object_keep(object);
	for (number = 0; object->writer && number < count; number++) {
		if (cache_entry_read(entry, number, data, &len) < 0) {
			cache_writer_free(object->writer);
			object->writer = NULL;
			return;
		}
		cache_writer_add(object->writer, data, len);
	}
}

/* Writes the good blocks.  True: those were all. */
static bool send_blocks(struct object_stream *object, struct cache_entry *entry,
			char *data, int *ret, struct error *err)
{
	size_t len;

	while (*ret == STREAM_DONE && object->at < object->size) {
		if (cache_entry_read(entry, object->at / CACHE_BLOCK, data,
				     &len) < 0)
			return false;
		*ret = object_add(object, data, len, err);
		/* Meanwhile, fetch others. */
		stream_plan(object->stream);
	}
	return true;
}

static int send_entry(struct object_stream *object, struct cache_entry *entry,
		      char *data, struct error *err)
{
	int ret = object_begin(object, object->size, err);

	if (send_blocks(object, entry, data, &ret, err)) {
		if (ret == STREAM_DONE)
			ret = object_end(object, err);
		if (ret < 0)
			cache_entry_discard(entry);
		else
			cache_entry_close(entry);
		return ret;
	}
	keep_written(object, entry, data);
	cache_entry_discard(entry);
	retreat(object);
	return ret;
}

int stream_send_cached(struct stream *stream, struct object_stream *object,
		       struct error *err)
{
	struct cache_entry *entry =
		cache_find(stream->options->cache, object->name);
	char *data;
	int ret;

	if (!entry || is_other(object, cache_entry_version(entry))) {
		cache_entry_close(entry);
		retreat(object);
		return STREAM_DONE;
	}
	data = mem_grow(NULL, 1, CACHE_BLOCK);
	ret = send_entry(object, entry, data, err);
	free(data);
	return ret;
}
