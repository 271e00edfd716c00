/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks answers, on the HTTP client's thread: each must be for the object of
 * the first answer, and for the requested range.  Only then are its bytes
 * accepted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/stream/stream_internal.h"

/* How an answer identifies its object; strings are new, or NULL. */
struct identity {
	uint64_t size;
	uint64_t first; /* of its bytes in the object */
	char *etag, *modified, *generation, *crc32c;
};

static void identity_done(struct identity *one)
{
	free(one->etag);
	free(one->modified);
	free(one->generation);
	free(one->crc32c);
}

/* "bytes 0-99/1000" */
static bool read_content_range(const char *text, uint64_t *first,
			       uint64_t *last, uint64_t *size)
{
	unsigned long long a, b, n;
	int end = 0;

	if (!text || *text == '-' ||
	    sscanf(text, "bytes %llu-%llu/%llu%n", &a, &b, &n, &end) != 3 ||
	    text[end] || a > b || b >= n || n > INT64_MAX)
		return false;
	*first = a;
	*last = b;
	*size = n;
	return true;
}

static bool read_length(const char *text, uint64_t *size)
{
	unsigned long long n;
	int end = 0;

	if (!text || sscanf(text, "%llu%n", &n, &end) != 1 || text[end] ||
	    n > INT64_MAX)
		return false;
	*size = n;
	return true;
}

/* "crc32c=yZRlqg==,md5=..." */
static char *find_crc32c(const char *hashes)
{
	const char *at = hashes ? strstr(hashes, "crc32c=") : NULL;

	if (!at || strcspn(at + 7, ",") != 8)
		return NULL;
	return mem_printf("%.8s", at + 7);
}

static enum part_verdict say(struct error *err, enum part_verdict verdict,
			     const char *text)
{
	error_set(err, verdict == PART_NEVER ? ERROR_FAILED : ERROR_UNREACHABLE,
		  "%s", text);
	return verdict;
}

/* Whether the answer has an end that a broken connection cannot fake. */
static bool is_chunked(const struct http_response *response)
{
	char *encoding = http_response_header(response, "transfer-encoding");
	bool yes = encoding && !strcasecmp(encoding, "chunked");

	free(encoding);
	return yes;
}

static enum part_verdict read_identity(const struct part *part,
				       const struct http_response *response,
				       struct identity *out, struct error *err)
{
	char *range = http_response_header(response, "content-range");
	char *length = http_response_header(response, "content-length");
	char *hashes = http_response_header(response, "x-goog-hash");
	uint64_t at = part->start + part->received, last = 0;
	uint64_t end = part->start + part->len - 1;
	enum part_verdict verdict = PART_GOOD;

	out->etag = http_response_header(response, "etag");
	out->modified = http_response_header(response, "last-modified");
	out->generation = http_response_header(response, "x-goog-generation");
	out->crc32c = find_crc32c(hashes);
	out->first = 0;
	if (response->status == 206) {
		/* A range shorter than requested is valid only at the end. */
		if (!read_content_range(range, &out->first, &last,
					&out->size) ||
		    out->first != at ||
		    (last != end && (last > end || last + 1 != out->size)))
			verdict = say(err, PART_WRONG,
				      "the server sends bytes other than those "
				      "requested");
	} else if (response->status != 200) {
		verdict = say(err, PART_WRONG,
			      "the server's response is not an object");
	} else if (!length && is_chunked(response)) {
		out->size = STREAM_SIZE_OPEN;
	} else if (!read_length(length, &out->size)) {
		verdict = say(err, PART_WRONG,
			      "the server does not say how long it is");
	}
	free(range);
	free(length);
	free(hashes);
	return verdict;
}

/* If either is unknown, they do not differ. */
static bool differ(const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0;
}

static void swap(char **a, char **b)
{
	char *old = *a;

	*a = *b;
	*b = old;
}

/* The first answer determines which version all later requests ask for.  Under
 * the lock. */
static void learn(struct part *part, const struct http_response *response,
		  struct identity *one)
{
	struct object_stream *object = part->object;
	size_t have = part->reserved + (part->filling ? 1 : 0), need;
	uint64_t rest = one->size - part->start;

	object->known = true;
	object->is_open = one->size == STREAM_SIZE_OPEN;
	if (!object->is_open)
		object->stream->expected = one->size;
	object->size = one->size;
	swap(&object->etag, &one->etag);
	swap(&object->modified, &one->modified);
	swap(&object->generation, &one->generation);
	if (!object->crc32c)
		swap(&object->crc32c, &one->crc32c);
	kept_done(&object->kept);
	if (response->status == 200 || part->len > rest)
		part->len = rest;
	object->planned = part->start + part->len;
	need = blocks_of(part->len);
	if (need < have) {
		object->stream->pool.unreserved += have - need;
		part->reserved -= have - need;
	} else {
		part->owed = need - have;
	}
}

static enum part_verdict compare(struct part *part,
				 const struct http_response *response,
				 struct identity *one, struct error *err)
{
	struct object_stream *object = part->object;
	enum part_verdict verdict = PART_GOOD;

	pthread_mutex_lock(&object->stream->lock);
	/* An index, or an earlier answer, may say what this one does not. */
	if (one->size == STREAM_SIZE_OPEN &&
	    object->size != STREAM_SIZE_UNKNOWN)
		one->size = object->size;
	if (!object->known && object->size != STREAM_SIZE_UNKNOWN &&
	    object->size != one->size)
		error_set(err, ERROR_FAILED,
			  "it has %llu bytes, not the %llu of its index",
			  (unsigned long long)one->size,
			  (unsigned long long)object->size),
			verdict = PART_NEVER;
	else if (!object->known)
		learn(part, response, one);
	else if (object->size != one->size || differ(object->etag, one->etag) ||
		 differ(object->modified, one->modified) ||
		 differ(object->generation, one->generation))
		verdict = say(err, PART_NEVER, "it changed while it was read");
	else if (object->is_open && part->received && !object->etag &&
		 !object->modified)
		verdict = say(err, PART_NEVER,
			      "it broke off, and cannot be resumed: the server "
			      "gives neither its length nor its version");
	if (verdict == PART_GOOD && response->status == 200)
		part->skip = part->start + part->received;
	stream_wake(object->stream);
	pthread_mutex_unlock(&object->stream->lock);
	return verdict;
}

/* Encoded bytes are not the object that its readers expect. */
static enum part_verdict check_encoding(const struct part *part,
					const struct http_response *response,
					struct error *err)
{
	char *encoding = http_response_header(response, "content-encoding");
	enum part_verdict verdict = PART_GOOD;
	struct object_stream *object = part->object;

	if (!encoding || !*encoding || !strcasecmp(encoding, "identity")) {
		free(encoding);
		return PART_GOOD;
	}
	if (object->stream->options->takes_encoded) {
		pthread_mutex_lock(&object->stream->lock);
		object->is_encoded = true;
		pthread_mutex_unlock(&object->stream->lock);
	} else {
		text_make_printable(encoding);
		error_set(err, ERROR_FAILED,
			  "it has the encoding '%.40s', which jobrun does not "
			  "decode; --raw passes it on as it is",
			  encoding);
		verdict = PART_NEVER;
	}
	free(encoding);
	return verdict;
}

static enum part_verdict look_at(struct part *part,
				 const struct http_response *response,
				 struct error *err)
{
	struct identity one = { 0 };
	enum part_verdict verdict = read_identity(part, response, &one, err);

	if (verdict == PART_GOOD)
		verdict = check_encoding(part, response, err);
	if (verdict == PART_GOOD)
		verdict = compare(part, response, &one, err);
	identity_done(&one);
	return verdict;
}

/* Finds room for `len` more bytes; 1: none available now.  The current block
 * may have some. */
static int take_room(struct part *part, size_t len)
{
	struct stream *stream = part->object->stream;
	size_t room = part->filling ? BLOCK_SIZE - part->filling->len : 0;
	int ret = 0;

	if (len <= room)
		return 0;
	pthread_mutex_lock(&stream->lock);
	part->paused = blocks_of(len - room) > part->reserved;
	if (part->paused) {
		part->was_paused = true;
		/* A block that is not full can be written, too. */
		if (part->filling && part->filling->len) {
			block_queue_add(&part->ready, part->filling);
			part->filling = NULL;
			part->owed++;
			stream_wake(stream);
		}
		ret = 1;
	} else if (!part->filling) {
		part->filling = block_pool_take(&stream->pool);
		part->reserved--;
	}
	pthread_mutex_unlock(&stream->lock);
	return ret;
}

/* Hands a block over for writing when it or the part is full. */
static void hand_over(struct part *part, bool more)
{
	struct stream *stream = part->object->stream;

	pthread_mutex_lock(&stream->lock);
	block_queue_add(&part->ready, part->filling);
	part->filling = NULL;
	if (more) {
		part->filling = block_pool_take(&stream->pool);
		part->reserved--;
	}
	if (stream->objects == part->object)
		stream_wake(stream);
	pthread_mutex_unlock(&stream->lock);
}

static void note_distance(const struct part *part)
{
	struct stream *stream = part->object->stream;
	int64_t took_us = time_monotonic_us() - part->asked_us;

	pthread_mutex_lock(&stream->lock);
	if (took_us < stream->first_us)
		stream->first_us = took_us;
	pthread_mutex_unlock(&stream->lock);
}

int part_take(void *arg, const struct http_response *response, const char *data,
	      size_t len)
{
	struct part *part = arg;
	uint64_t left, skip;
	size_t n;

	if (!part->answered) {
		note_distance(part);
		part->verdict = look_at(part, response, &part->err);
		if (part->verdict != PART_GOOD)
			return -1;
		part->answered = true;
	}
	skip = part->skip < len ? part->skip : len;
	left = part->len - part->received;
	/* Too much is an error for a range; of a whole object, it is left. */
	if (len - skip > left && response->status == 206) {
		part->verdict = say(&part->err, PART_WRONG,
				    "the server sends more than it says");
		return -1;
	}
	if (len - skip < left)
		left = len - skip;
	if (left && take_room(part, (size_t)left))
		return 1;
	part->skip -= skip;
	data += skip;
	while (left) {
		n = BLOCK_SIZE - part->filling->len;
		if (n > left)
			n = (size_t)left;
		memcpy(part->filling->data + part->filling->len, data, n);
		part->filling->len += n;
		part->received += n;
		data += n;
		left -= n;
		if (part->filling->len == BLOCK_SIZE ||
		    part->received == part->len)
			hand_over(part, left > 0);
	}
	/* This part does not need the rest of a whole object. */
	return part->received == part->len && part->skip == 0 &&
			       part->start + part->len < part->object->size &&
			       response->status == 200
		       ? -1
		       : 0;
}

void part_close(struct part *part)
{
	struct object_stream *object = part->object;

	if (!object->is_open)
		return;
	pthread_mutex_lock(&object->stream->lock);
	object->is_open = false;
	part->len = part->received;
	object->size = object->planned = part->start + part->len;
	object->stream->expected = object->size;
	if (part->filling && part->filling->len) {
		block_queue_add(&part->ready, part->filling);
		part->filling = NULL;
	}
	pthread_mutex_unlock(&object->stream->lock);
}

void part_ended(void *arg)
{
	struct part *part = arg;
	struct stream *stream = part->object->stream;

	pthread_mutex_lock(&stream->lock);
	part->next_ended = stream->ended;
	stream->ended = part;
	stream_wake(stream);
	pthread_mutex_unlock(&stream->lock);
}

/* Whether the first answer has no bytes because the object is empty. */
static bool is_empty(const struct part *part,
		     const struct http_response *response)
{
	bool is_end = response->status == 200 && is_chunked(response);
	const char *name = response->status == 416   ? "content-range"
			   : response->status == 200 ? "content-length"
						     : "";
	char *value = http_response_header(response, name);
	bool empty = !part->object->known && !part->answered &&
		     (value ? !strcmp(value, "0") || !strcmp(value, "bytes */0")
			    : is_end);

	free(value);
	return empty;
}

/* The server says that the kept version is current. */
static enum part_verdict take_kept(struct part *part,
				   const struct http_response *response,
				   struct error *err)
{
	struct object_stream *object = part->object;
	struct stream *stream = object->stream;
	char *etag = http_response_header(response, "etag");
	enum part_verdict verdict = PART_GOOD;

	pthread_mutex_lock(&stream->lock);
	if (differ(etag, object->kept.etag)) {
		verdict = say(err, PART_WRONG,
			      "the server says that an object other than the "
			      "requested one is unchanged");
		kept_done(&object->kept);
	} else {
		object_take_kept(object);
		part->len = 0;
		stream->pool.unreserved += part->reserved;
		part->reserved = 0;
	}
	pthread_mutex_unlock(&stream->lock);
	free(etag);
	return verdict;
}

enum part_verdict part_judge(struct part *part,
			     const struct http_response *response,
			     struct error *err)
{
	const struct http_response empty = { .status = 200 };
	long status = response->status;

	if (status / 100 == 2 && part->answered)
		return PART_GOOD;
	if (status == 304 && part->asks_kept)
		return take_kept(part, response, err);
	if (is_empty(part, response))
		return compare(part, &empty, &(struct identity){ 0 }, err);
	/* Its headers may have been truncated, so they mean nothing. */
	if (status / 100 == 2)
		return say(err, PART_AGAIN, "the server sends no bytes");
	if (part->object->known &&
	    (status == 404 || status == 410 || status == 412 || status == 416))
		return say(err, PART_NEVER, "it changed while it was read");
	/* Only a header, which may be truncated, would say that the object is
	 * empty. */
	if (status == 416)
		return say(err, PART_WRONG,
			   "the server says that there is no such range");
	if (status == 404 || status == 410)
		return say(err, PART_NEVER, "it does not exist");
	if (status == 401 || status == 403) {
		error_set(err, ERROR_DENIED, "the server refuses it (%ld)",
			  status);
		return PART_NEVER;
	}
	error_set(err, ERROR_UNREACHABLE, "the server answers with %ld",
		  status);
	return retry_status(status) == RETRY_NEVER ? PART_NEVER : PART_AGAIN;
}
