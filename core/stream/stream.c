/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stream/stream_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/net/url.h"

/* Parts are a sixteenth of the memory, within these limits. */
#define PART_LEAST BLOCK_SIZE
#define PART_MOST (8u << 20)

static const struct retry_policy stream_retry = {
	.first_ms = 500,
	.max_ms = 16000,
};

void stream_wake(struct stream *stream)
{
	const uint64_t one = 1;

	/* The counter can't overflow: it is read before the next wait. */
	if (stream->waiting && write(stream->wake, &one, sizeof(one)) < 0)
		return;
	stream->waiting = false;
}

/* Waits until there is something to do; with `out`, also until the reader has
 * gone. */
static void wait_for_news(struct stream *stream, int64_t wait_ms, bool out)
{
	struct pollfd at[] = {
		{ .fd = stream->wake, .events = POLLIN },
		{ .fd = out && stream->out.is_pipe ? stream->out.fd : -1 },
	};
	uint64_t count;

	poll(at, COUNT(at), (int)wait_ms);
	pthread_mutex_lock(&stream->lock);
	stream->waiting = false;
	pthread_mutex_unlock(&stream->lock);
	while (read(stream->wake, &count, sizeof(count)) < 0 && errno == EINTR)
		;
}

/* Makes a written block available again: for its part if that has no end yet,
 * else for all. */
static void give_back(struct stream *stream, struct part *part,
		      struct stream_block *block)
{
	struct http_call *resume = NULL;

	pthread_mutex_lock(&stream->lock);
	block_pool_put(&stream->pool, block);
	if (part->owed) {
		part->owed--;
		part->reserved++;
		if (part->paused)
			resume = part->call;
		part->paused = false;
	} else {
		stream->pool.unreserved++;
	}
	pthread_mutex_unlock(&stream->lock);
	if (resume)
		http_resume(resume);
}

/* The next block of the first object, or the reason why there is none. */
enum next_block {
	NEXT_BLOCK,
	NEXT_END,    /* that was the last block */
	NEXT_CACHED, /* the rest is in the cache */
	NEXT_WAIT,
	NEXT_LOOK, /* a request has ended: check its result */
	NEXT_FAILED,
};

/* Frees a completely written part, with the blocks that it did not need. */
static void drop_part(struct object_stream *object)
{
	struct part *part = object->parts;

	object->stream->pool.unreserved += part->reserved;
	object->parts = part->next;
	if (!object->parts)
		object->parts_end = &object->parts;
	part_free(part);
}

static enum next_block next_block(struct object_stream *object,
				  struct stream_block **block)
{
	struct stream *stream = object->stream;
	enum next_block found = NEXT_WAIT;
	struct part *part;

	pthread_mutex_lock(&stream->lock);
	while ((part = object->parts) && !part->ready.first &&
	       part->state == PART_WHOLE)
		drop_part(object);
	*block = part ? block_queue_take(&part->ready) : NULL;
	if (*block)
		found = NEXT_BLOCK;
	else if (part && part->state == PART_FAILED)
		found = NEXT_FAILED;
	else if (!part && object->cached)
		found = NEXT_CACHED;
	else if (!part && object->known && object->planned >= object->size)
		found = NEXT_END;
	else if (stream->ended)
		found = NEXT_LOOK;
	/* From here on any progress wakes us. */
	stream->waiting = found == NEXT_WAIT;
	pthread_mutex_unlock(&stream->lock);
	return found;
}

static int send_block(struct object_stream *object, struct stream_block *block,
		      struct error *err)
{
	int ret = object_begin(object, object->size, err);

	if (ret == STREAM_DONE)
		ret = object_add(object, block->data, block->len, err);
	give_back(object->stream, object->parts, block);
	return ret;
}

static int send_remote(struct stream *stream, struct object_stream *object,
		       struct error *err)
{
	struct stream_block *block;
	int64_t wait_ms;
	int ret = STREAM_DONE;

	while (ret == STREAM_DONE) {
		wait_ms = stream_plan(stream);
		switch (next_block(object, &block)) {
		case NEXT_BLOCK:
			ret = send_block(object, block, err);
			break;
		case NEXT_LOOK:
			break;
		case NEXT_CACHED:
			ret = stream_send_cached(stream, object, err);
			if (object->cached)
				return ret;
			break;
		case NEXT_END:
			ret = object_begin(object, object->size, err);
			return ret == STREAM_DONE ? object_end(object, err)
						  : ret;
		case NEXT_FAILED:
			*err = object->parts->err;
			return -1;
		case NEXT_WAIT:
			if (stream_output_is_gone(&stream->out))
				return STREAM_READER_GONE;
			wait_for_news(stream, wait_ms, true);
		}
	}
	return ret;
}

static int send_object(struct stream *stream, struct object_stream *object,
		       struct error *err)
{
	char *shown;
	int ret = object->kind == OBJECT_REMOTE
			  ? send_remote(stream, object, err)
			  : stream_send_file(stream, object, err);

	if (ret < 0) {
		shown = url_without_query(object->name);
		error_prefix(err, "%.300s", shown);
		free(shown);
	}
	return ret;
}

static void pop_object(struct stream *stream)
{
	struct object_stream *object = stream->objects;

	pthread_mutex_lock(&stream->lock);
	stream->objects = object->next;
	if (!stream->objects)
		stream->objects_end = &stream->objects;
	stream->object_count--;
	pthread_mutex_unlock(&stream->lock);
	object_free(object);
}

static void open_stream(struct stream *stream)
{
	uint64_t part = stream->options->read_ahead / 16;

	pthread_mutex_init(&stream->lock, NULL);
	stream->objects_end = &stream->objects;
	stream->first_us = INT64_MAX;
	stream->pool.unreserved = stream->options->read_ahead / BLOCK_SIZE;
	if (part < PART_LEAST)
		part = PART_LEAST;
	if (part > PART_MOST)
		part = PART_MOST;
	stream->part_max = part / BLOCK_SIZE * BLOCK_SIZE;
	stream->expected = stream->options->read_ahead / 4;
	if (stream->options->cache)
		stream->spare = (size_t)(stream->part_max / BLOCK_SIZE);
}

/* A request ends before its part does, and part_ended() is the last callback
 * for it. */
static void end_requests(struct stream *stream)
{
	struct object_stream *object;
	struct part *part;
	bool wait;

	for (object = stream->objects; object; object = object->next)
		for (part = object->parts; part; part = part->next)
			if (part->call)
				http_cancel(part->call);
	for (stream_reap(stream); stream->running; stream_reap(stream)) {
		pthread_mutex_lock(&stream->lock);
		wait = stream->waiting = !stream->ended;
		pthread_mutex_unlock(&stream->lock);
		if (wait)
			wait_for_news(stream, -1, false);
	}
}

static void close_stream(struct stream *stream)
{
	end_requests(stream);
	while (stream->objects)
		pop_object(stream);
	block_pool_done(&stream->pool);
	pthread_mutex_destroy(&stream->lock);
	if (stream->wake >= 0)
		close(stream->wake);
}

int stream_run(struct http *http, const struct stream_options *options,
	       stream_next *next, void *arg, int fd, struct error *err)
{
	struct stream stream = {
		.http = http,
		.options = options,
		.retry = options->retry ? options->retry : &stream_retry,
		.next = next,
		.next_arg = arg,
	};
	int ret = STREAM_DONE;

	stream_output_init(&stream.out, fd);
	open_stream(&stream);
	stream.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (stream.wake < 0) {
		ret = error_errno(err, "cannot create an eventfd");
		goto out;
	}
	stream_plan(&stream);
	stream.out.joins = options->joins_tars && stream_has_several(&stream);
	while (ret == STREAM_DONE && stream.objects) {
		ret = send_object(&stream, stream.objects, err);
		if (ret == STREAM_DONE) {
			pop_object(&stream);
			stream_plan(&stream);
		}
	}
	if (ret == STREAM_DONE && stream.next_failed) {
		*err = stream.next_err;
		ret = -1;
	}
	if (ret == STREAM_DONE)
		ret = stream_output_finish(&stream.out, err);
	if (ret < 0 && (options->marks_failure || stream.out.joins))
		stream_output_fail(&stream.out, err);
out:
	close_stream(&stream);
	return ret;
}
