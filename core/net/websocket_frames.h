/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WebSocket frames (RFC 6455, section 5), for a client that takes binary
 * messages: bytes in, messages out, independent of the connection.
 */
#ifndef JOBRUN_WEBSOCKET_FRAMES_H
#define JOBRUN_WEBSOCKET_FRAMES_H

#include "core/base/buf.h"
#include "core/net/websocket.h"

#define WEBSOCKET_CONTROL_MAX 125 /* the most bytes in a control frame */

enum websocket_opcode {
	WEBSOCKET_OPCODE_MORE = 0,
	WEBSOCKET_OPCODE_TEXT = 1,
	WEBSOCKET_OPCODE_BINARY = 2,
	WEBSOCKET_OPCODE_CLOSE = 8,
	WEBSOCKET_OPCODE_PING = 9,
	WEBSOCKET_OPCODE_PONG = 10,
};

/* A zeroed one has received nothing and has nothing to send. */
struct websocket_frames {
	struct buf in;      /* the bytes read, from the next frame on */
	size_t used;        /* of `in`, by the message last returned */
	struct buf out;     /* to be sent, including answers to pings */
	struct buf message; /* a message of several frames, so far */
	bool in_message;
	bool closed; /* the server has closed */
	int close_code;
	char close_reason[WEBSOCKET_CONTROL_MAX];
};

void websocket_frames_done(struct websocket_frames *frames);

/* Adds a complete, masked frame to `out`. */
void websocket_frames_put(struct websocket_frames *frames,
			  enum websocket_opcode opcode, const void *data,
			  size_t len);

/* The next message in `in`, as websocket_receive() returns it; NOTHING: no
 * message is complete yet. */
enum websocket_got websocket_frames_take(struct websocket_frames *frames,
					 const void **data, size_t *len,
					 struct error *err);

#endif
