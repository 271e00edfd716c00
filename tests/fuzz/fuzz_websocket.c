/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a server sends over a WebSocket: messages are within their
 * limits and do not depend on how the bytes are split, and the replies are
 * frames of a client.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/net/websocket_frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Takes the complete messages and adds them to `all`, each followed by a
 * mark. */
static enum websocket_got take(struct websocket_frames *frames, struct buf *all)
{
	enum websocket_got got;
	struct error err = { 0 };
	const void *message;
	size_t len;

	while ((got = websocket_frames_take(frames, &message, &len, &err)) ==
	       WEBSOCKET_MESSAGE) {
		assert(len <= WEBSOCKET_MESSAGE_MAX);
		buf_add(all, message, len);
		buf_puts(all, "|");
	}
	assert((got == WEBSOCKET_BROKEN) == (err.text[0] != '\0'));
	return got;
}

static enum websocket_got hear(const uint8_t *data, size_t size, size_t step,
			       struct websocket_frames *frames, struct buf *all)
{
	enum websocket_got got = WEBSOCKET_NOTHING;
	size_t at, n;

	for (at = 0; at < size && got == WEBSOCKET_NOTHING; at += n) {
		n = size - at < step ? size - at : step;
		buf_add(&frames->in, (const char *)data + at, n);
		got = take(frames, all);
	}
	return got;
}

/* Checks everything except the masks, which are random. */
static void look_at_answers(const struct buf *out)
{
	size_t at = 0, len;

	while (at < out->len) {
		const unsigned char *frame =
			(const unsigned char *)out->data + at;

		assert(out->len - at >= 6);
		assert(frame[0] == (0x80 | WEBSOCKET_OPCODE_PONG) ||
		       frame[0] == (0x80 | WEBSOCKET_OPCODE_CLOSE));
		assert(frame[1] & 0x80);
		len = frame[1] & 0x7f;
		assert(len <= WEBSOCKET_CONTROL_MAX);
		at += 6 + len;
	}
	assert(at == out->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct websocket_frames whole = { 0 }, cut = { 0 };
	struct buf first = { 0 }, second = { 0 };
	enum websocket_got got = hear(data, size, size, &whole, &first);

	assert(hear(data, size, 1, &cut, &second) == got);
	assert(first.len == second.len);
	assert(!first.len || !memcmp(first.data, second.data, first.len));
	assert(whole.close_code == cut.close_code);
	assert(!strcmp(whole.close_reason, cut.close_reason));
	assert(whole.out.len == cut.out.len);
	look_at_answers(&whole.out);
	websocket_frames_done(&whole);
	websocket_frames_done(&cut);
	buf_done(&first);
	buf_done(&second);
	return 0;
}
