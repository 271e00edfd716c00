/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ssh/protocol.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

static uint64_t get_int(struct wire_in *in, size_t size)
{
	uint64_t value = 0;
	size_t i;

	if (in->bad || in->left < size) {
		in->bad = true;
		return 0;
	}
	for (i = 0; i < size; i++)
		value |= (uint64_t)in->at[i] << (8 * i);
	in->at += size;
	in->left -= size;
	return value;
}

uint32_t wire_get_u32(struct wire_in *in)
{
	return (uint32_t)get_int(in, 4);
}

uint64_t wire_get_u64(struct wire_in *in)
{
	return get_int(in, 8);
}

struct wire_text wire_get_text(struct wire_in *in)
{
	struct wire_text out = { "", 0 };
	uint32_t len = wire_get_u32(in);

	if (in->bad || in->left < len) {
		in->bad = true;
		return out;
	}
	out.data = (const char *)in->at;
	out.len = len;
	in->at += len;
	in->left -= len;
	return out;
}

char *wire_get_string(struct wire_in *in)
{
	struct wire_text text = wire_get_text(in);
	char *out;

	if (!in->bad && text.len && memchr(text.data, 0, text.len))
		in->bad = true;
	if (in->bad)
		return NULL;
	out = mem_alloc(text.len + 1);
	memcpy(out, text.data, text.len);
	out[text.len] = '\0';
	return out;
}

uint32_t wire_get_count(struct wire_in *in, uint32_t max, size_t size)
{
	uint32_t count = wire_get_u32(in);

	/* Nothing is allocated for items that cannot be there. */
	if (count > max || count > in->left / size) {
		in->bad = true;
		return 0;
	}
	return count;
}

char **wire_get_list(struct wire_in *in)
{
	uint32_t count = wire_get_count(in, FRAME_MAX / 4, 4);
	char **out = mem_alloc(((size_t)count + 1) * sizeof(*out));
	uint32_t i;

	for (i = 0; i < count && !in->bad; i++)
		out[i] = wire_get_string(in);
	if (!in->bad)
		return out;
	wire_list_free(out);
	return NULL;
}

void wire_list_free(char **list)
{
	size_t i;

	for (i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

bool wire_is_done(const struct wire_in *in)
{
	return !in->bad && !in->left;
}

void wire_out_done(struct wire_out *out)
{
	/* It may have held secrets. */
	if (out->data)
		explicit_bzero(out->data, out->size);
	free(out->data);
	*out = (struct wire_out){ 0 };
}

static unsigned char *reserve(struct wire_out *out, size_t len)
{
	unsigned char *more;
	size_t size = out->size ? out->size : 256;

	if (out->size - out->len >= len)
		return out->data + out->len;
	while (size - out->len < len)
		size *= 2;
	more = mem_alloc(size);
	if (out->data) {
		memcpy(more, out->data, out->len);
		explicit_bzero(out->data, out->size);
		free(out->data);
	}
	out->data = more;
	out->size = size;
	return out->data + out->len;
}

static void put_int(unsigned char *to, uint64_t value, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		to[i] = (unsigned char)(value >> (8 * i));
}

void frame_header(unsigned char *to, enum frame_type type, size_t len)
{
	put_int(to, len, 4);
	put_int(to + 4, (uint64_t)type, 4);
}

void wire_begin(struct wire_out *out, enum frame_type type)
{
	out->start = out->len;
	frame_header(reserve(out, FRAME_HEADER), type, 0);
	out->len += FRAME_HEADER;
}

void wire_put_u32(struct wire_out *out, uint32_t value)
{
	put_int(reserve(out, 4), value, 4);
	out->len += 4;
}

void wire_put_u64(struct wire_out *out, uint64_t value)
{
	put_int(reserve(out, 8), value, 8);
	out->len += 8;
}

void wire_put_bytes(struct wire_out *out, const void *data, size_t len)
{
	if (!len)
		return;
	memcpy(reserve(out, len), data, len);
	out->len += len;
}

void wire_put_text(struct wire_out *out, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	wire_put_u32(out, (uint32_t)len);
	wire_put_bytes(out, text, len);
}

void wire_put_list(struct wire_out *out, const char *const *list, size_t count)
{
	size_t i;

	wire_put_u32(out, (uint32_t)count);
	for (i = 0; i < count; i++)
		wire_put_text(out, list[i]);
}

bool wire_end(struct wire_out *out)
{
	size_t len = out->len - out->start - FRAME_HEADER;

	assert(out->len >= out->start + FRAME_HEADER);
	if (len > FRAME_MAX) {
		out->len = out->start;
		return false;
	}
	put_int(out->data + out->start, len, 4);
	return true;
}

enum frame_found frame_find(const void *data, size_t len, struct frame *out,
			    size_t *used)
{
	struct wire_in in = { data, len, false };
	size_t size = frame_size(data, len);

	if (len < FRAME_HEADER)
		return FRAME_NONE;
	if (!size)
		return FRAME_BROKEN;
	if (len < size)
		return FRAME_NONE;
	wire_get_u32(&in);
	out->type = (enum frame_type)wire_get_u32(&in);
	out->body = in.at;
	out->len = size - FRAME_HEADER;
	*used = size;
	return FRAME_WHOLE;
}

size_t frame_size(const void *data, size_t len)
{
	struct wire_in in = { data, len, false };
	uint32_t size = wire_get_u32(&in);
	uint32_t type = wire_get_u32(&in);

	return in.bad || size > FRAME_MAX || !type || type > FRAME_ALL_ENDED
		       ? 0
		       : (size_t)FRAME_HEADER + size;
}

struct wire_in frame_fields(const struct frame *frame)
{
	return (struct wire_in){ frame->body, frame->len, false };
}

bool frame_is_pad(const void *data, size_t len)
{
	struct wire_in in = { data, len, false };

	wire_get_u32(&in);
	return wire_get_u32(&in) == FRAME_PAD && !in.bad;
}

bool frame_get_welcome(const struct frame *frame, struct frame_welcome *out)
{
	struct wire_in in = frame_fields(frame);

	out->time_ms = wire_get_u64(&in);
	out->free_bytes = wire_get_u64(&in);
	out->stage = wire_get_u32(&in);
	out->round = wire_get_u32(&in);
	out->address = wire_get_text(&in);
	out->folder = wire_get_text(&in);
	out->home = wire_get_text(&in);
	out->machine = wire_get_text(&in);
	return wire_is_done(&in) && out->stage <= STAGE_ENDED;
}

bool frame_get_output(const struct frame *frame, struct frame_output *out)
{
	struct wire_in in = frame_fields(frame);

	out->task = wire_get_u32(&in);
	out->stream = wire_get_u32(&in);
	out->round = wire_get_u32(&in);
	out->time_ms = wire_get_u64(&in);
	out->data = (const char *)in.at;
	out->len = in.left;
	return !in.bad && out->stream < FRAME_STREAMS;
}

bool frame_get_output_part(const void *data, size_t len,
			   struct frame_output *out, size_t *left)
{
	size_t size = frame_size(data, len);
	struct frame frame = { FRAME_OUTPUT, NULL, 0 };
	struct wire_in in = { data, len, false };

	if (size < OUTPUT_HEADER || len < OUTPUT_HEADER)
		return false;
	wire_get_u32(&in);
	frame.body = in.at + 4;
	frame.len = (len < size ? len : size) - FRAME_HEADER;
	*left = size - FRAME_HEADER - frame.len;
	return wire_get_u32(&in) == FRAME_OUTPUT &&
	       frame_get_output(&frame, out);
}

void frame_output_header(unsigned char to[OUTPUT_HEADER],
			 const struct frame_output *output, size_t len)
{
	frame_header(to, FRAME_OUTPUT, OUTPUT_HEADER - FRAME_HEADER + len);
	put_int(to + 8, output->task, 4);
	put_int(to + 12, output->stream, 4);
	put_int(to + 16, output->round, 4);
	put_int(to + 20, output->time_ms, 8);
}

bool frame_get_event(const struct frame *frame, struct frame_event *out)
{
	struct wire_in in = frame_fields(frame);

	out->task = wire_get_u32(&in);
	out->stream = wire_get_u32(&in);
	out->round = wire_get_u32(&in);
	out->time_ms = wire_get_u64(&in);
	out->value = (int64_t)wire_get_u64(&in);
	out->text = wire_get_text(&in);
	return wire_is_done(&in) && out->stream < FRAME_STREAMS;
}

void frame_put_event(struct wire_out *out, enum frame_type type,
		     const struct frame_event *event)
{
	wire_begin(out, type);
	wire_put_u32(out, event->task);
	wire_put_u32(out, event->stream);
	wire_put_u32(out, event->round);
	wire_put_u64(out, event->time_ms);
	wire_put_u64(out, (uint64_t)event->value);
	wire_put_u32(out, (uint32_t)event->text.len);
	wire_put_bytes(out, event->text.data, event->text.len);
	wire_end(out);
}
