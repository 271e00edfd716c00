/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any lines as the status and headers of an answer to a request for a part of
 * an object, and any bytes after an empty line as its body: bytes are taken
 * only if they are the requested ones, and never more of them, and a refused
 * answer has a reason.
 */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/stream/stream_internal.h"

#define READ_AHEAD (8u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct answer {
	char *text;
	struct http_response response;
	const char *body;
	size_t len;
};

/* Reads "206", then "name: value" for each header. */
static void read_answer(const uint8_t *data, size_t size, struct answer *out)
{
	const char *at = out->text, *end, *stop;
	bool first = true;

	memcpy(out->text, data, size);
	out->text[size] = '\0';
	end = at + size;
	for (; at < end; at = stop + 1) {
		stop = memchr(at, '\n', (size_t)(end - at));
		if (!stop)
			stop = end;
		if (stop == at)
			break;
		if (first)
			sscanf(at, "%3ld", &out->response.status);
		else
			buf_printf(&out->response.headers, "%.*s\n",
				   (int)(stop - at), at);
		first = false;
	}
	out->body = at < end ? at + 1 : end;
	out->len = at < end ? (size_t)(end - at) - 1 : 0;
}

/* Hands the blocks back, as the thread that writes them would. */
static void write_blocks(struct part *part)
{
	struct stream_block *block;

	while ((block = block_queue_take(&part->ready))) {
		assert(block->len <= BLOCK_SIZE);
		block_pool_put(&part->object->stream->pool, block);
		if (part->owed) {
			part->owed--;
			part->reserved++;
		} else {
			part->object->stream->pool.unreserved++;
		}
	}
}

static void take_body(struct part *part, const struct answer *answer)
{
	size_t at = 0, n, piece = 1 + answer->len / 3;
	uint64_t before;
	int ret;

	while (at < answer->len) {
		n = piece < answer->len - at ? piece : answer->len - at;
		before = part->received;
		ret = part_take(part, &answer->response, answer->body + at, n);
		assert(part->received >= before && part->received <= part->len);
		if (ret < 0) {
			assert(part->verdict == PART_GOOD || part->err.text[0]);
			break;
		}
		if (ret == 0)
			at += n;
		write_blocks(part);
	}
	if (part->received && part->verdict == PART_GOOD)
		assert(part->object->known &&
		       part->start + part->len <= part->object->size);
}

/* The first byte decides which part is requested, and whether the object is
 * known. */
static void ask(uint8_t how, const struct answer *answer, struct stream *stream)
{
	static char etag[] = "\"a\"";
	struct object_stream object = {
		.stream = stream,
		.size = how & 17 ? 1000 : STREAM_SIZE_UNKNOWN,
		.known = (how & 11) == 3,
		.etag = (how & 15) == 7 ? strdup(etag) : NULL,
		.kept = { .size = how & 8 ? 100 : 0,
			  .etag = how & 8 ? strdup(etag) : NULL },
	};
	struct part *part = part_new(&object, how & 16 ? 500 : 0, 500);
	enum part_verdict verdict;

	stream->objects = &object;
	part->asks_kept = how & 8;
	part->reserved = blocks_of(part->len);
	stream->pool.unreserved -= part->reserved;
	take_body(part, answer);
	verdict = part->verdict;
	if (verdict == PART_GOOD && !part->answered)
		verdict = part_judge(part, &answer->response, &part->err);
	assert(verdict == PART_GOOD || part->err.text[0]);
	part_free(part);
	kept_done(&object.kept);
	free(object.etag);
	free(object.modified);
	free(object.generation);
	free(object.crc32c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stream_options options = { .read_ahead = READ_AHEAD };
	struct stream stream = {
		.options = &options,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.pool = { .unreserved = READ_AHEAD / BLOCK_SIZE },
		.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	};
	struct answer answer = { 0 };

	if (!size)
		goto out;
	answer.text = malloc(size);
	read_answer(data + 1, size - 1, &answer);
	ask(data[0], &answer, &stream);
	block_pool_done(&stream.pool);
	http_response_done(&answer.response);
	free(answer.text);
out:
	close(stream.wake);
	return 0;
}
