/* SPDX-License-Identifier: Apache-2.0 */
/* Writing an object, and checking its checksums. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/crc32c.h"
#include "core/stream/stream_internal.h"

int object_begin(struct object_stream *object, uint64_t size, struct error *err)
{
	if (object->begun)
		return STREAM_DONE;
	if (object->size != STREAM_SIZE_UNKNOWN && object->size != size)
		return error_set(err, ERROR_FAILED,
				 "it has %llu bytes, not the %llu of its index",
				 (unsigned long long)size,
				 (unsigned long long)object->size);
	if (object->sha256)
		object->digester = digester_new();
	object->begun = true;
	/* If there were requests, their answers have set the size. */
	if (object->size == STREAM_SIZE_UNKNOWN)
		object->size = size;
	stream_output_begin(&object->stream->out,
			    object->is_open ? STREAM_SIZE_UNKNOWN : size);
	if (object->kind == OBJECT_REMOTE && !object->cached &&
	    !object->is_open)
		object_keep(object);
	return STREAM_DONE;
}

/* Leaves out samples; passes on what comes after them. */
static int skip_some(struct object_stream *object, const char *data, size_t len,
		     struct error *err)
{
	struct stream_output *out = &object->stream->out;
	struct stream_skip *skip = object->skip;
	uint64_t size = object->is_open ? STREAM_SIZE_UNKNOWN : object->size;
	const struct buf *head;
	size_t used;
	int ret = stream_skip_add(skip, data, len, &used, err);

	if (ret <= 0)
		return ret;
	object->skip = NULL;
	if (size != STREAM_SIZE_UNKNOWN)
		size -= stream_skip_left_out(skip);
	stream_output_begin(out, size);
	head = stream_skip_head(skip);
	ret = stream_output_add(out, head->data, head->len, err);
	stream_skip_free(skip);
	return ret == STREAM_DONE
		       ? stream_output_add(out, data + used, len - used, err)
		       : ret;
}

int object_add(struct object_stream *object, const char *data, size_t len,
	       struct error *err)
{
	object->at += len;
	if (object->crc32c)
		object->crc = crc32c_add(object->crc, data, len);
	if (object->digester)
		digester_add(object->digester, data, len);
	if (object->writer)
		cache_writer_add(object->writer, data, len);
	return object->skip ? skip_some(object, data, len, err)
			    : stream_output_add(&object->stream->out, data, len,
						err);
}

static int check(struct object_stream *object, struct error *err)
{
	struct digest digest;
	char crc[9];

	if (object->at != object->size)
		return error_set(err, ERROR_FAILED,
				 "it ends after %llu of %llu bytes",
				 (unsigned long long)object->at,
				 (unsigned long long)object->size);
	crc32c_format(object->crc, crc);
	if (object->crc32c && strcmp(object->crc32c, crc) != 0)
		return error_set(err, ERROR_FAILED,
				 "it arrived corrupted: its CRC-32C is %s, not "
				 "%.20s",
				 crc, object->crc32c);
	if (!object->digester)
		return 0;
	digester_end(object->digester, &digest);
	if (strcmp(object->sha256, digest.hex) != 0)
		return error_set(err, ERROR_FAILED,
				 "it arrived corrupted: its SHA-256 is %s, not "
				 "%.64s",
				 digest.hex, object->sha256);
	return 0;
}

int object_end(struct object_stream *object, struct error *err)
{
	if (check(object, err) < 0)
		return -1;
	if (object->skip)
		return error_set(err, ERROR_FAILED,
				 "it ends within the samples to leave out");
	object_kept(object);
	return stream_output_end(&object->stream->out, err);
}

void object_free(struct object_stream *object)
{
	struct part *part;

	if (!object)
		return;
	while ((part = object->parts)) {
		object->parts = part->next;
		part_free(part);
	}
	digester_free(object->digester);
	stream_skip_free(object->skip);
	cache_writer_free(object->writer);
	kept_done(&object->kept);
	if (object->fd >= 0)
		close(object->fd);
	free(object->name);
	free(object->crc32c);
	free(object->sha256);
	free(object->etag);
	free(object->modified);
	free(object->generation);
	free(object);
}
