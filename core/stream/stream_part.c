/* SPDX-License-Identifier: Apache-2.0 */
/* A part of an object: requests it, and after a failure the rest of it, until
 * it is complete or has failed too often. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/units.h"
#include "core/stream/stream_internal.h"

/* Give up on a server that keeps sending something else. */
#define WRONG_MAX 5
/* The most that is read of an error answer. */
#define ANSWER_MAX (64u << 10)

/* Retries happen here, from where it broke, not in the HTTP client. */
static const struct retry_policy never = { .total_ms = -1 };

struct part *part_new(struct object_stream *object, uint64_t start,
		      uint64_t len)
{
	struct part *part = mem_alloc(sizeof(*part));

	part->object = object;
	part->start = start;
	part->len = len;
	block_queue_init(&part->ready);
	return part;
}

static void wipe_authorization(struct part *part)
{
	if (part->authorization.data)
		explicit_bzero(part->authorization.data,
			       part->authorization.size);
	buf_clear(&part->authorization);
}

void part_free(struct part *part)
{
	struct stream_block *block;

	if (!part)
		return;
	while ((block = block_queue_take(&part->ready)))
		free(block);
	free(part->filling);
	wipe_authorization(part);
	buf_done(&part->authorization);
	buf_done(&part->url);
	free(part->match);
	free(part);
}

/* Whether the part came on, and at a rate that ends some day. */
static bool came_on(const struct part *part, int64_t now)
{
	uint64_t least = (uint64_t)part->object->stream->options->least_rate;
	uint64_t bytes = part->received - part->received_since;

	return part->received > part->received_before &&
	       (part->was_paused ||
		bytes * 1000 >= least * (uint64_t)(now - part->since_ms));
}

/* Handles a failure: sets when to try again, or gives up. */
static void fail(struct part *part, enum part_verdict verdict, int64_t after_ms)
{
	struct stream *stream = part->object->stream;
	int64_t now = time_monotonic_ms(), delay;
	char patience[32];

	if (came_on(part, now)) {
		part->failed = 0;
		part->since_ms = now;
		part->received_since = part->received;
	}
	if (verdict == PART_WRONG && ++part->wrong == WRONG_MAX)
		verdict = PART_NEVER;
	delay = retry_delay_ms(stream->retry, ++part->failed, after_ms);
	if (verdict != PART_NEVER &&
	    now + delay - part->since_ms <= stream->options->patience_ms) {
		part->state = PART_WAITING;
		part->due_ms = now + delay;
		return;
	}
	part->state = PART_FAILED;
	if (verdict == PART_AGAIN) {
		duration_format((now - part->since_ms) / 1000, patience,
				sizeof(patience));
		error_prefix(&part->err, "gave up after %s", patience);
	}
}

/* Adds the header that names the version by its tag.  Returns how many headers
 * there are. */
static size_t ask_for_version(struct part *part, size_t n)
{
	const struct object_stream *object = part->object;
	const char *match = part->asks_kept ? object->kept.etag : object->etag;

	/* A weak tag never matches. */
	if (match && *match == '"')
		part->match = mem_printf("If-%sMatch: %s",
					 part->asks_kept ? "None-" : "", match);
	if (part->match)
		part->headers[n++] = part->match;
	return n;
}

/* Makes its strings, and the header with the credentials. */
static int prepare(struct part *part, struct error *err)
{
	struct object_stream *object = part->object;
	const struct stream_scheme *scheme = object->scheme;
	size_t n = 0;

	buf_clear(&part->url);
	wipe_authorization(part);
	free(part->match);
	part->match = NULL;
	part->asks_kept = !object->known && object->kept.size;
	snprintf(part->range, sizeof(part->range), "Range: bytes=%llu-%llu",
		 (unsigned long long)(part->start + part->received),
		 (unsigned long long)(part->start + part->len - 1));
	part->headers[n++] = part->range;
	if (scheme) {
		if (scheme->locate(
			    scheme->arg, object->name, object->generation,
			    part->asks_kept ? object->kept.generation : NULL,
			    &part->url, err) < 0 ||
		    scheme->authorize(scheme->arg, &part->authorization, err) <
			    0)
			return -1;
		if (part->authorization.len)
			part->headers[n++] = part->authorization.data;
		/* Get the object as stored, not decompressed by the server. */
		part->headers[n++] = "Accept-Encoding: gzip";
	} else {
		buf_puts(&part->url, object->name);
	}
	if (!scheme || scheme->by_tag)
		n = ask_for_version(part, n);
	part->headers[n] = NULL;
	return 0;
}

void part_start(struct part *part)
{
	struct stream *stream = part->object->stream;
	struct http_request request = {
		.method = "GET",
		.headers = part->headers,
		.flags = HTTP_REPEATABLE | HTTP_BULK,
		.stall_timeout_s = stream->options->stall_timeout_s,
		.stall_rate = stream->options->least_rate,
		.answer_max = ANSWER_MAX,
		.retry = &never,
		.sink = part_take,
		.done = part_ended,
		.arg = part,
	};

	if (!part->since_ms)
		part->since_ms = time_monotonic_ms();
	part->received_before = part->received;
	part->answered = false;
	part->verdict = PART_GOOD;
	part->skip = 0;
	part->paused = part->was_paused = false;
	if (prepare(part, &part->err) < 0) {
		fail(part,
		     part->err.code == ERROR_UNREACHABLE ? PART_AGAIN
							 : PART_NEVER,
		     0);
		return;
	}
	request.url = part->url.data;
	if (!part->object->scheme)
		request.flags |= HTTP_PUBLIC;
	part->state = PART_RUNNING;
	part->asked_us = time_monotonic_us();
	stream->running++;
	part->call = http_start(stream->http, &request);
}

static int64_t retry_after_ms(const struct http_response *response)
{
	char *text = http_response_header(response, "retry-after");
	long seconds = 0;

	if (text &&
	    number_parse(text, 0, 3600, &seconds, &(struct error){ 0 }) < 0)
		seconds = 0;
	free(text);
	return seconds * 1000;
}

/* The token may be stale: gets another one, once. */
static bool sign_again(struct part *part, const struct http_response *response)
{
	const struct stream_scheme *scheme = part->object->scheme;

	if (response->status != 401 || !scheme || part->signed_again)
		return false;
	scheme->refused(scheme->arg, buf_text(&part->authorization));
	part->signed_again = true;
	part->state = PART_WAITING;
	part->due_ms = 0;
	return true;
}

static enum part_verdict judge(struct part *part, int result,
			       const struct http_response *response,
			       const struct error *why)
{
	enum part_verdict verdict;

	if (part->verdict != PART_GOOD)
		return part->verdict;
	if (part->object->known && part->received == part->len)
		return PART_GOOD;
	if (result < 0) {
		part->err = *why;
		return why->code == ERROR_UNREACHABLE && !why->final
			       ? PART_AGAIN
			       : PART_NEVER;
	}
	verdict = part_judge(part, response, &part->err);
	if (verdict == PART_GOOD)
		part_close(part);
	if (verdict != PART_GOOD || part->received == part->len)
		return verdict;
	error_set(&part->err, ERROR_UNREACHABLE, "the response ends too early");
	return PART_AGAIN;
}

void part_reap(struct part *part)
{
	struct http_response response = { 0 };
	enum part_verdict verdict;
	struct error why;
	int result;

	result = http_wait(part->call, &response, &why);
	part->call = NULL;
	part->object->stream->running--;
	if (result < 0 || !sign_again(part, &response)) {
		verdict = judge(part, result, &response, &why);
		if (verdict == PART_GOOD)
			part->state = PART_WHOLE;
		else
			fail(part, verdict, retry_after_ms(&response));
	}
	wipe_authorization(part);
	http_response_done(&response);
}
