/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides what to request next.  Parts are requested in the order of the
 * stream, each with memory reserved for it.  Only the first part of an object
 * of unknown size can be requested; memory for the rest is estimated from the
 * previous object, and left free.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/stream/stream_internal.h"

/* The most objects known beyond the one being written. */
#define OBJECTS_MAX 256

/*
 * For a server so near, a few connections carry all that there is, and small
 * parts leave room: if parts and connections fill the whole memory, they are
 * complete at about the same time, and a connection that is done earlier has to
 * wait.  Far away, many large parts cover the round trips.
 */
#define NEAR_US 2000
#define NEAR_CONNECTIONS 4
#define NEAR_PART (1u << 20)

/* The one of the schemes that has the URL; or NULL. */
static const struct stream_scheme *scheme_of(const struct stream_scheme *scheme,
					     const char *url)
{
	while (scheme && !text_starts(url, scheme->prefix))
		scheme = scheme->next;
	return scheme;
}

bool stream_is_remote(const char *url, const struct stream_scheme *scheme)
{
	return text_starts(url, "http://") || text_starts(url, "https://") ||
	       scheme_of(scheme, url);
}

static char *dup_or_null(const char *text)
{
	return text && *text ? mem_strdup(text) : NULL;
}

static void add_object(struct stream *stream, const struct stream_object *given)
{
	const struct stream_scheme *scheme = stream->options->scheme;
	struct object_stream *object = mem_alloc(sizeof(*object));

	object->stream = stream;
	object->kind = stream_is_remote(given->url, scheme) ? OBJECT_REMOTE
							    : OBJECT_FILE;
	object->scheme = scheme_of(scheme, given->url);
	object->name = mem_strdup(given->url);
	object->size = given->size;
	object->crc32c = dup_or_null(given->crc32c);
	object->sha256 = dup_or_null(given->sha256);
	object->skip = given->skip ? stream_skip_new(given->skip) : NULL;
	object->parts_end = &object->parts;
	object->fd = -1;
	pthread_mutex_lock(&stream->lock);
	*stream->objects_end = object;
	stream->objects_end = &object->next;
	stream->object_count++;
	pthread_mutex_unlock(&stream->lock);
}

/* Takes the next object of a list that is still being read: true if there was
 * one. */
static bool fetch_object(struct stream *stream)
{
	struct stream_object given = { .size = STREAM_SIZE_UNKNOWN };
	int ret;

	if (stream->next_ended || stream->object_count > OBJECTS_MAX)
		return false;
	ret = stream->next(stream->next_arg, &given, &stream->next_err);
	if (ret > 0) {
		add_object(stream, &given);
		return true;
	}
	stream->next_ended = true;
	stream->next_failed = ret < 0;
	return false;
}

bool stream_has_several(struct stream *stream)
{
	while (stream->object_count < 2 && fetch_object(stream))
		;
	return stream->object_count > 1;
}

/* Finds a part to start; `*wait_ms`: the time until the first of those that
 * can't be started yet. */
static struct part *find_waiting(struct stream *stream, int64_t *wait_ms)
{
	int64_t now = time_monotonic_ms();
	struct object_stream *object;
	struct part *part;

	for (object = stream->objects; object; object = object->next) {
		for (part = object->parts; part; part = part->next) {
			if (part->state != PART_WAITING)
				continue;
			if (part->due_ms <= now)
				return part;
			if (*wait_ms < 0 || part->due_ms - now < *wait_ms)
				*wait_ms = part->due_ms - now;
		}
	}
	return NULL;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Under the lock. */
static bool is_near(const struct stream *stream)
{
	return stream->first_us < NEAR_US &&
	       stream->options->connections >= NEAR_CONNECTIONS;
}

/* The most bytes of a part.  Under the lock. */
static uint64_t part_most(const struct stream *stream)
{
	return is_near(stream) ? least(stream->part_max, NEAR_PART)
			       : stream->part_max;
}

/* The length of the first part of an unknown object. */
static uint64_t first_len(const struct stream *stream,
			  const struct object_stream *object)
{
	uint64_t guess = object->size != STREAM_SIZE_UNKNOWN
				 ? object->size - object->planned
				 : stream->expected;

	guess = blocks_of(guess) * (uint64_t)BLOCK_SIZE;
	return least(guess ? guess : BLOCK_SIZE, part_most(stream));
}

static struct part *add_part(struct object_stream *object, uint64_t len,
			     size_t blocks)
{
	struct part *part = part_new(object, object->planned, len);

	part->reserved = blocks;
	object->stream->pool.unreserved -= blocks;
	object->planned += len;
	*object->parts_end = part;
	object->parts_end = &part->next;
	return part;
}

/* An object's share of the memory left: the first one must still be able to
 * finish if its cache entry turns out to be damaged. */
static size_t share_of(const struct stream *stream,
		       const struct object_stream *object, size_t budget)
{
	if (object == stream->objects)
		return budget;
	return budget > stream->spare ? budget - stream->spare : 0;
}

/* Under the lock.  NULL: no memory for it now, or nothing to do; or `*unknown`
 * must be looked up first. */
static struct part *plan_part(struct stream *stream,
			      struct object_stream **unknown)
{
	size_t budget = stream->pool.unreserved, need, share;
	struct object_stream *object;
	uint64_t len;

	for (object = stream->objects; object; object = object->next) {
		if (object->kind != OBJECT_REMOTE)
			continue;
		if (!object->known && object->parts) {
			len = object->size != STREAM_SIZE_UNKNOWN
				      ? object->size
				      : stream->expected;
			need = len > object->planned
				       ? blocks_of(len - object->planned)
				       : 0;
			budget -= least(need, budget);
			continue;
		}
		if (object->known && object->planned >= object->size)
			continue;
		if (stream->options->cache && !object->looked_up) {
			*unknown = object;
			return NULL;
		}
		len = object->known ? least(object->size - object->planned,
					    part_most(stream))
				    : first_len(stream, object);
		need = blocks_of(len);
		share = share_of(stream, object, budget);
		/* The object being written must go on with any amount. */
		if (need > share && object == stream->objects && share) {
			need = share;
			len = least(len, need * (uint64_t)BLOCK_SIZE);
		}
		if (need > share)
			return NULL;
		return add_part(object, len, need);
	}
	return NULL;
}

void stream_reap(struct stream *stream)
{
	struct part *part, *next;

	pthread_mutex_lock(&stream->lock);
	part = stream->ended;
	stream->ended = NULL;
	pthread_mutex_unlock(&stream->lock);
	for (; part; part = next) {
		next = part->next_ended;
		part_reap(part);
	}
}

/* All other connections may be used by objects that wait for the first one,
 * which began without a connection. */
static size_t connections_of(struct stream *stream)
{
	size_t count = (size_t)stream->options->connections;

	pthread_mutex_lock(&stream->lock);
	if (is_near(stream))
		count = NEAR_CONNECTIONS;
	pthread_mutex_unlock(&stream->lock);
	return count + (stream->objects && stream->objects->retreated ? 1 : 0);
}

int64_t stream_plan(struct stream *stream)
{
	int64_t wait_ms = -1;
	struct object_stream *unknown;
	struct part *part;

	stream_reap(stream);
	while (stream->running < connections_of(stream)) {
		unknown = NULL;
		part = find_waiting(stream, &wait_ms);
		if (!part) {
			pthread_mutex_lock(&stream->lock);
			part = plan_part(stream, &unknown);
			pthread_mutex_unlock(&stream->lock);
		}
		if (unknown) {
			stream_look_up(stream, unknown);
			continue;
		}
		/* All known objects are requested: fetch another from the
		 * list. */
		if (!part && stream->pool.unreserved && fetch_object(stream))
			continue;
		if (!part)
			break;
		part_start(part);
	}
	return wait_ms;
}
