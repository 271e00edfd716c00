/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of WebSockets (RFC 6455, section 5), for a client that takes
 * binary messages: bytes in, messages out, apart from the connection.
 */
#ifndef JOBRUN_WEBSOCKET_FRAMES_H
#define JOBRUN_WEBSOCKET_FRAMES_H

#include "core/base/buf.h"
#include "core/net/websocket.h"

#define WEBSOCKET_CONTROL_MAX 125 /* bytes in a frame that is no message */

enum websocket_opcode {
	WEBSOCKET_OPCODE_MORE = 0,
	WEBSOCKET_OPCODE_TEXT = 1,
	WEBSOCKET_OPCODE_BINARY = 2,
	WEBSOCKET_OPCODE_CLOSE = 8,
	WEBSOCKET_OPCODE_PING = 9,
	WEBSOCKET_OPCODE_PONG = 10,
};

/* Zeroed: nothing has come, nothing is to be sent. */
struct websocket_frames {
	struct buf in;      /* what was read, from the next frame on */
	size_t used;        /* of it, by the message that was given */
	struct buf out;     /* what is to be sent: answers to pings, too */
	struct buf message; /* of several frames, so far */
	bool in_message;
	bool closed; /* by the server */
	int close_code;
	char close_reason[WEBSOCKET_CONTROL_MAX];
};

void websocket_frames_done(struct websocket_frames *frames);

/* Adds a frame to `out`, whole and masked. */
void websocket_frames_put(struct websocket_frames *frames,
			  enum websocket_opcode opcode, const void *data,
			  size_t len);

/* The next message in `in`, as websocket_receive() returns it; NOTHING: none is
 * complete yet. */
enum websocket_got websocket_frames_take(struct websocket_frames *frames,
					 const void **data, size_t *len,
					 struct error *err);

#endif
