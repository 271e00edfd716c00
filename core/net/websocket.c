/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/websocket.h"

#include <ctype.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "core/base/alloc.h"
#include "core/base/base64.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/base/text.h"
#include "core/net/http_internal.h"
#include "core/net/url.h"
#include "core/net/websocket_frames.h"

#define HANDSHAKE_MS 20000
#define HANDSHAKE_MAX (16 << 10)
#define READ_SIZE ((size_t)64 << 10)
/* RFC 6455, section 1.3: a server appends this to the key. */
#define ACCEPT_GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

struct websocket {
	struct http_call call; /* libcurl's part of it */
	char *url;
	char *protocol; /* the chosen one */
	int fd;
	struct websocket_frames frames;
};

/* ---- bytes --------------------------------------------------------------- */

static int broken(struct websocket *ws, CURLcode code, struct error *err)
{
	http_try_error(&ws->call, code, err);
	return -1;
}

int websocket_flush(struct websocket *ws, struct error *err)
{
	const struct curl_api *curl = ws->call.http->curl;
	CURLcode code = CURLE_OK;
	size_t at = 0, n;

	while (at < ws->frames.out.len && code == CURLE_OK) {
		n = 0;
		code = curl->easy_send(ws->call.easy, ws->frames.out.data + at,
				       ws->frames.out.len - at, &n);
		at += n;
	}
	buf_drop(&ws->frames.out, at);
	return code == CURLE_OK || code == CURLE_AGAIN ? 0
						       : broken(ws, code, err);
}

/* 1: data was read; 0: none available. */
static int read_more(struct websocket *ws, struct error *err)
{
	const struct curl_api *curl = ws->call.http->curl;
	size_t n = 0;
	CURLcode code = curl->easy_recv(
		ws->call.easy, buf_reserve(&ws->frames.in, READ_SIZE + 1),
		READ_SIZE, &n);

	ws->frames.in.len += n;
	ws->frames.in.data[ws->frames.in.len] = '\0';

	if (code == CURLE_AGAIN)
		return 0;
	if (code != CURLE_OK)
		return broken(ws, code, err);
	if (!n)
		return error_set(err, ERROR_UNREACHABLE,
				 "the connection was closed");
	return 1;
}

/* ---- the handshake ------------------------------------------------------- */

static int add_host(struct websocket *ws, struct buf *out, struct error *err)
{
	const struct curl_api *curl = ws->call.http->curl;
	char *host = NULL, *port = NULL, *path = NULL, *query = NULL;
	int ret = -1;

	curl->url_get(ws->call.url, CURLUPART_HOST, &host, 0);
	curl->url_get(ws->call.url, CURLUPART_PORT, &port, 0);
	curl->url_get(ws->call.url, CURLUPART_PATH, &path, 0);
	curl->url_get(ws->call.url, CURLUPART_QUERY, &query, 0);
	if (host && path) {
		buf_printf(out, "GET %s%s%s HTTP/1.1\r\nHost: %s%s%s\r\n", path,
			   query ? "?" : "", query ? query : "", host,
			   port ? ":" : "", port ? port : "");
		ret = 0;
	} else {
		error_set(err, ERROR_FAILED, "out of memory");
	}
	curl->free(host);
	curl->free(port);
	curl->free(path);
	curl->free(query);
	return ret;
}

static int ask(struct websocket *ws, const struct websocket_request *request,
	       const char *key, struct error *err)
{
	const struct curl_slist *line;

	/* Reserved at once, as growing would leave copies of a token behind. */
	buf_reserve(&ws->frames.out, HANDSHAKE_MAX);
	if (add_host(ws, &ws->frames.out, err) < 0)
		return -1;
	buf_printf(&ws->frames.out,
		   "Upgrade: websocket\r\nConnection: Upgrade\r\n"
		   "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n"
		   "Sec-WebSocket-Protocol: %s\r\n"
		   "User-Agent: jobrun/" JOBRUN_VERSION "\r\n",
		   key, request->protocols);
	/* Add the caller's headers, which were checked before; libcurl drops
	 * "Name:". */
	for (line = ws->call.headers; line; line = line->next)
		if (!text_ends(line->data, ":"))
			buf_printf(&ws->frames.out, "%s\r\n", line->data);
	buf_puts(&ws->frames.out, "\r\n");
	return 0;
}

/* Sends the request, and reads the header of the answer. */
static int exchange(struct websocket *ws, struct error *err)
{
	int64_t until_ms = time_monotonic_ms() + HANDSHAKE_MS;
	int ret = 0;

	while (ret >= 0 && !strstr(buf_text(&ws->frames.in), "\r\n\r\n")) {
		int64_t left_ms = until_ms - time_monotonic_ms();
		struct pollfd fd = { .fd = ws->fd, .events = POLLIN };

		if (ws->frames.in.len > HANDSHAKE_MAX)
			return error_set(err, ERROR_FAILED,
					 "the answer is too long");
		if (left_ms <= 0)
			return error_set(err, ERROR_UNREACHABLE,
					 "it does not answer");
		ret = websocket_flush(ws, err);
		if (ret == 0)
			ret = read_more(ws, err);
		if (ret != 0)
			continue;
		if (ws->frames.out.len)
			fd.events |= POLLOUT;
		poll(&fd, 1, (int)left_ms);
	}
	return ret < 0 ? -1 : 0;
}

/* The value of a header in lines up to an empty one; "" if it is missing.
 * Returns new. */
static char *header_of(const char *text, const char *name)
{
	size_t len = strlen(name);
	const char *line = strstr(text, "\r\n") + 2;

	for (; strncmp(line, "\r\n", 2) != 0; line = strstr(line, "\r\n") + 2) {
		const char *value = line + len + 1;

		if (strncasecmp(line, name, len) != 0 || line[len] != ':')
			continue;
		value += strspn(value, " \t");
		len = strcspn(value, "\r");
		while (len && strchr(" \t", value[len - 1]))
			len--;
		return mem_printf("%.*s", (int)len, value);
	}
	return mem_strdup("");
}

static bool has(const char *text, const char *name, const char *value)
{
	char *got = header_of(text, name);
	bool ret = !strcmp(got, value);

	free(got);
	return ret;
}

/* Whether a header's list has the name: "keep-alive, Upgrade". */
static bool names(const char *text, const char *name, const char *value)
{
	char *got = header_of(text, name);
	bool ret = strcasestr(got, value);

	free(got);
	return ret;
}

/* Whether `name` is one of "a, b". */
static bool is_listed(const char *list, const char *name)
{
	size_t len = strlen(name);
	const char *at = list;

	for (; len && (at = strstr(at, name)); at++)
		if ((at == list || at[-1] == ' ') &&
		    (!at[len] || at[len] == ','))
			return true;
	return false;
}

static int expected_answer(const char *key, struct buf *out, struct error *err)
{
	unsigned char raw[DIGEST_SHA1_SIZE];
	char *text = mem_printf("%s" ACCEPT_GUID, key);
	int ret = digest_sha1(text, strlen(text), raw, err);

	if (ret == 0)
		base64_add(out, raw, sizeof(raw));
	free(text);
	return ret;
}

static int refused(const char *text, long status, struct error *err)
{
	size_t len = strcspn(text, "\r");

	return error_set(err,
			 status == 401 || status == 403   ? ERROR_DENIED
			 : status == 429 || status >= 500 ? ERROR_UNREACHABLE
							  : ERROR_FAILED,
			 "the server answers '%.*s'",
			 (int)(len < 100 ? len : 100), text);
}

static int judge(struct websocket *ws, const struct websocket_request *request,
		 const char *key, long *status, struct error *err)
{
	const char *text = buf_text(&ws->frames.in);
	struct buf accept = { 0 };
	char *protocol;
	int ret = expected_answer(key, &accept, err);

	if (ret < 0)
		return -1;
	protocol = header_of(text, "Sec-WebSocket-Protocol");
	if (sscanf(text, "HTTP/1.1 %3ld", status) != 1)
		*status = 0;
	if (*status != 101)
		ret = refused(text, *status, err);
	else if (!names(text, "Upgrade", "websocket") ||
		 !names(text, "Connection", "Upgrade") ||
		 !has(text, "Sec-WebSocket-Accept", accept.data) ||
		 !is_listed(request->protocols, protocol) ||
		 !has(text, "Sec-WebSocket-Extensions", ""))
		ret = error_set(err, ERROR_FAILED,
				"the server does not speak %s over WebSockets",
				request->protocols);
	if (ret == 0) {
		ws->protocol = protocol;
		protocol = NULL;
		buf_drop(&ws->frames.in,
			 (size_t)(strstr(text, "\r\n\r\n") + 4 - text));
	}
	free(protocol);
	buf_done(&accept);
	return ret;
}

static int shake_hands(struct websocket *ws,
		       const struct websocket_request *request, long *status,
		       struct error *err)
{
	unsigned char raw[16];
	struct buf key = { 0 };
	int ret;

	if (getrandom(raw, sizeof(raw), 0) != sizeof(raw))
		return error_errno(err, "cannot get random bytes");
	base64_add(&key, raw, sizeof(raw));
	ret = ask(ws, request, key.data, err);
	if (ret == 0)
		ret = exchange(ws, err);
	/* It may have contained a token. */
	if (ws->frames.out.data)
		explicit_bzero(ws->frames.out.data, ws->frames.out.size);
	if (ret == 0)
		ret = judge(ws, request, key.data, status, err);
	buf_done(&key);
	return ret;
}

static int connect_to(struct websocket *ws, struct error *err)
{
	const struct curl_api *curl = ws->call.http->curl;
	curl_socket_t fd = CURL_SOCKET_BAD;
	CURLcode code;

	if (http_try_prepare(&ws->call, err) < 0)
		return -1;
	http_try_connect(&ws->call);
	code = curl->easy_perform(ws->call.easy);
	if (code != CURLE_OK)
		return broken(ws, code, err);
	curl->easy_getinfo(ws->call.easy, CURLINFO_ACTIVESOCKET, &fd);
	ws->fd = (int)fd;
	return 0;
}

struct websocket *websocket_open(struct http *http,
				 const struct websocket_request *request,
				 long *status, struct error *err)
{
	struct websocket *ws = mem_alloc(sizeof(*ws));
	int ret;

	*status = 0;
	ws->url = mem_strdup(request->url);
	ws->call.http = http;
	ws->call.request = (struct http_request){
		.method = "GET",
		.url = ws->url,
		.headers = request->headers,
		.flags = HTTP_BULK, /* HTTP/1.1, on a connection of its own */
	};
	ret = connect_to(ws, err);
	if (ret == 0) {
		ret = shake_hands(ws, request, status, err);
		if (ret < 0) {
			char *url = url_without_query(request->url);

			error_prefix(err, "'%s'", url);
			free(url);
		}
	}
	ws->call.request.headers = NULL;
	if (ret == 0)
		return ws;
	websocket_free(ws);
	return NULL;
}

void websocket_free(struct websocket *ws)
{
	if (!ws)
		return;
	http_try_done(&ws->call);
	websocket_frames_done(&ws->frames);
	free(ws->protocol);
	free(ws->url);
	free(ws);
}

const char *websocket_protocol(const struct websocket *ws)
{
	return ws->protocol;
}

int websocket_fd(const struct websocket *ws)
{
	return ws->fd;
}

/* ---- messages ------------------------------------------------------------ */

int websocket_send(struct websocket *ws, const void *data, size_t len,
		   struct error *err)
{
	websocket_frames_put(&ws->frames, WEBSOCKET_OPCODE_BINARY, data, len);
	return websocket_flush(ws, err);
}

size_t websocket_pending(const struct websocket *ws)
{
	return ws->frames.out.len;
}

void websocket_close(struct websocket *ws)
{
	static const unsigned char normal[] = { 1000 >> 8, 1000 & 0xff };
	struct error ignored;

	if (!ws->frames.closed)
		websocket_frames_put(&ws->frames, WEBSOCKET_OPCODE_CLOSE,
				     normal, sizeof(normal));
	websocket_flush(ws, &ignored);
}

enum websocket_got websocket_receive(struct websocket *ws, const void **data,
				     size_t *len, struct error *err)
{
	enum websocket_got got;
	int ret;

	for (;;) {
		got = websocket_frames_take(&ws->frames, data, len, err);
		if (got != WEBSOCKET_NOTHING)
			return got;
		ret = read_more(ws, err);
		if (ret <= 0)
			return ret < 0 ? WEBSOCKET_BROKEN : WEBSOCKET_NOTHING;
	}
}

int websocket_close_code(const struct websocket *ws)
{
	return ws->frames.close_code;
}

const char *websocket_close_reason(const struct websocket *ws)
{
	return ws->frames.close_reason;
}
