/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A WebSocket client (RFC 6455) for binary messages. libcurl makes the
 * connection, with the trust and the proxies of the HTTP client; the handshake
 * and the frames are done here, as libcurl has them only since 8.11.
 *
 * Nothing blocks after websocket_open(): the caller polls the descriptor.
 */
#ifndef JOBRUN_WEBSOCKET_H
#define JOBRUN_WEBSOCKET_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"
#include "core/net/http.h"

struct websocket;

/* All borrowed for the call. */
struct websocket_request {
	const char *url; /* https; http only to this machine */
	/* The subprotocols, the best first: "a, b".  The server must choose
	 * one of them. */
	const char *protocols;
	const char *const *headers; /* "Name: value", NULL-terminated */
};

/* The longest message accepted. */
#define WEBSOCKET_MESSAGE_MAX ((size_t)1 << 20)

/* Connects and waits for the handshake, each for 20 s at most.  `status` is the
 * server's answer, 0: none.  NULL: ERROR_UNREACHABLE, ERROR_DENIED (401 and
 * 403), else ERROR_FAILED. */
struct websocket *websocket_open(struct http *http,
				 const struct websocket_request *request,
				 long *status, struct error *err);
/* Closes the connection without a close frame. */
void websocket_free(struct websocket *ws);

/* The subprotocol that the server has chosen; borrowed. */
const char *websocket_protocol(const struct websocket *ws);

/* To be polled for reading, and for writing while something is pending. */
int websocket_fd(const struct websocket *ws);

/* Queues a message, and sends as much as possible. */
int websocket_send(struct websocket *ws, const void *data, size_t len,
		   struct error *err);
/* Sends more of the queue; websocket_pending() says how much is left. */
int websocket_flush(struct websocket *ws, struct error *err);
size_t websocket_pending(const struct websocket *ws);

enum websocket_got {
	WEBSOCKET_NOTHING, /* now */
	WEBSOCKET_MESSAGE,
	WEBSOCKET_CLOSED, /* by the server, see websocket_close_code() */
	WEBSOCKET_BROKEN, /* and `err` says why */
};

/* The next message; borrowed until the next call.  Call it until there is none:
 * data that was already read does not make the descriptor readable. */
enum websocket_got websocket_receive(struct websocket *ws, const void **data,
				     size_t *len, struct error *err);

/* The code with which the server closed the connection, 1000 and so on, or 0 if
 * it gave none; and its text, or "". */
int websocket_close_code(const struct websocket *ws);
const char *websocket_close_reason(const struct websocket *ws);

/* Sends a close frame, "normal closure". */
void websocket_close(struct websocket *ws);

#endif
