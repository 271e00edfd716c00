/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/websocket_frames.h"

#include <ctype.h>
#include <string.h>
#include <sys/random.h>

/* Header, length and mask. */
#define FRAME_HEADER_MAX 14

void websocket_frames_done(struct websocket_frames *frames)
{
	buf_done(&frames->in);
	buf_done(&frames->out);
	buf_done(&frames->message);
}

void websocket_frames_put(struct websocket_frames *frames,
			  enum websocket_opcode opcode, const void *data,
			  size_t len)
{
	unsigned char *at = (unsigned char *)buf_reserve(
		&frames->out, len + FRAME_HEADER_MAX);
	const unsigned char *from = data;
	unsigned char mask[4];
	size_t n = 0, i;

	/* Masks keep caches from mistaking frames for HTTP; a machine without
	 * random bytes yet has no network either. */
	if (getrandom(mask, sizeof(mask), 0) != sizeof(mask))
		memset(mask, 0x5a, sizeof(mask));
	at[n++] = (unsigned char)(0x80 | opcode);
	if (len <= WEBSOCKET_CONTROL_MAX) {
		at[n++] = (unsigned char)(0x80 | len);
	} else {
		int bytes = len <= UINT16_MAX ? 2 : 8;

		at[n++] = (unsigned char)(0x80 | (bytes == 2 ? 126 : 127));
		while (bytes--)
			at[n++] = (unsigned char)((uint64_t)len >> (8 * bytes));
	}
	memcpy(at + n, mask, sizeof(mask));
	n += sizeof(mask);
	for (i = 0; i < len; i++)
		at[n + i] = from[i] ^ mask[i % 4];
	frames->out.len += n + len;
}

struct ws_frame {
	bool last;
	unsigned opcode;
	const unsigned char *data;
	size_t len;
	size_t size; /* including its header */
};

static enum websocket_got wrong(struct error *err, const char *what)
{
	error_set(err, ERROR_FAILED, "the server breaks its protocol: %s",
		  what);
	return WEBSOCKET_BROKEN;
}

/* Returns false if the frame is incomplete. */
static bool find_frame(const struct websocket_frames *frames,
		       struct ws_frame *out)
{
	const unsigned char *at =
		(const unsigned char *)buf_text(&frames->in) + frames->used;
	size_t left = frames->in.len - frames->used, n = 2;
	uint64_t len;
	int bytes;

	if (left < n)
		return false;
	len = at[1] & 0x7f;
	bytes = len == 126 ? 2 : len == 127 ? 8 : 0;
	if (left < n + (size_t)bytes)
		return false;
	if (bytes)
		for (len = 0; bytes--; n++)
			len = len << 8 | at[n];
	out->last = at[0] & 0x80;
	/* Includes the reserved bits and the mask bit, which must be 0. */
	out->opcode = (at[0] & 0x7fu) | (at[1] & 0x80u);
	out->data = at + n;
	out->len = len > WEBSOCKET_MESSAGE_MAX ? WEBSOCKET_MESSAGE_MAX + 1
					       : (size_t)len;
	out->size = n + out->len;
	return out->len > WEBSOCKET_MESSAGE_MAX || left >= out->size;
}

static enum websocket_got take_close(struct websocket_frames *frames,
				     const struct ws_frame *frame)
{
	size_t len = frame->len > 2 ? frame->len - 2 : 0, i;

	if (frame->len >= 2)
		frames->close_code = frame->data[0] << 8 | frame->data[1];
	for (i = 0; i < len; i++)
		frames->close_reason[i] = isprint(frame->data[2 + i])
						  ? (char)frame->data[2 + i]
						  : '?';
	frames->close_reason[len] = '\0';
	websocket_frames_put(frames, WEBSOCKET_OPCODE_CLOSE, frame->data,
			     frame->len < 2 ? 0 : 2);
	frames->closed = true;
	return WEBSOCKET_CLOSED;
}

static enum websocket_got take_control(struct websocket_frames *frames,
				       const struct ws_frame *frame,
				       struct error *err)
{
	if (!frame->last || frame->len > WEBSOCKET_CONTROL_MAX)
		return wrong(err, "a control frame that is none");
	if (frame->opcode == WEBSOCKET_OPCODE_CLOSE)
		return take_close(frames, frame);
	if (frame->opcode == WEBSOCKET_OPCODE_PING)
		websocket_frames_put(frames, WEBSOCKET_OPCODE_PONG, frame->data,
				     frame->len);
	else if (frame->opcode != WEBSOCKET_OPCODE_PONG)
		return wrong(err, "a frame of no known kind");
	return WEBSOCKET_NOTHING;
}

static enum websocket_got take_frame(struct websocket_frames *frames,
				     const struct ws_frame *frame,
				     const void **data, size_t *len,
				     struct error *err)
{
	if (frame->len > WEBSOCKET_MESSAGE_MAX)
		return wrong(err, "a message that is too long");
	if (frame->opcode >= WEBSOCKET_OPCODE_CLOSE)
		return take_control(frames, frame, err);
	if (frame->opcode != (frames->in_message
				      ? (unsigned)WEBSOCKET_OPCODE_MORE
				      : (unsigned)WEBSOCKET_OPCODE_BINARY))
		return wrong(err, "a frame of no known kind");
	if (frame->last && !frames->in_message) {
		*data = frame->data;
		*len = frame->len;
		return WEBSOCKET_MESSAGE;
	}
	if (!frames->in_message)
		buf_clear(&frames->message);
	if (frame->len > WEBSOCKET_MESSAGE_MAX - frames->message.len)
		return wrong(err, "a message that is too long");
	buf_add(&frames->message, frame->data, frame->len);
	frames->in_message = !frame->last;
	*data = buf_text(&frames->message);
	*len = frames->message.len;
	return frame->last ? WEBSOCKET_MESSAGE : WEBSOCKET_NOTHING;
}

enum websocket_got websocket_frames_take(struct websocket_frames *frames,
					 const void **data, size_t *len,
					 struct error *err)
{
	enum websocket_got got;
	struct ws_frame frame;

	if (frames->closed)
		return WEBSOCKET_CLOSED;
	while (find_frame(frames, &frame)) {
		got = take_frame(frames, &frame, data, len, err);
		frames->used += frame.size;
		if (got != WEBSOCKET_NOTHING)
			return got;
	}
	buf_drop(&frames->in, frames->used);
	frames->used = 0;
	return WEBSOCKET_NOTHING;
}
