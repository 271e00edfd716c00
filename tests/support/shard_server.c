/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/shard_server.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/alloc.h"

#define CONNECTIONS_MAX 256
#define OBJECTS_MAX 65536
#define PIECE 65536

struct connection {
	struct shard_server *server;
	pthread_t thread;
	int fd;
};

struct shard_server {
	const struct shard_server_options *options;
	int fd, port;
	pthread_t thread;
	pthread_mutex_t lock;
	struct connection connections[CONNECTIONS_MAX];
	size_t connection_count;
	size_t faults[FAULT_COUNT];
	size_t requests;
	uint32_t asked[OBJECTS_MAX]; /* number of requests */
	bool replaced[OBJECTS_MAX];
	bool stopping;
};

struct request {
	uint64_t object, first, last;
	bool ranged;
	char match[64], none_match[64];
	bool replaced; /* another object replaced it */
};

void shard_server_fill(uint64_t object, uint64_t offset, char *data, size_t len)
{
	uint64_t z;
	size_t skip = offset & 7, n;

	for (; len; len -= n, data += n, offset += n, skip = 0) {
		z = (offset >> 3) + object * 0x9e3779b97f4a7c15u;
		z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
		z ^= z >> 27;
		n = 8 - skip < len ? 8 - skip : len;
		memcpy(data, (const char *)&z + skip, n);
	}
}

/* Sends everything; returns false if the connection is of no more use. */
static bool send_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

static bool send_bytes(int fd, uint64_t object, uint64_t first, uint64_t len,
		       bool chunked)
{
	char piece[PIECE], size[32];
	size_t n;

	for (; len; len -= n, first += n) {
		n = len < PIECE ? (size_t)len : PIECE;
		shard_server_fill(object, first, piece, n);
		snprintf(size, sizeof(size), "%zx\r\n", n);
		if (chunked && !send_all(fd, size, strlen(size)))
			return false;
		if (!send_all(fd, piece, n) ||
		    (chunked && !send_all(fd, "\r\n", 2)))
			return false;
	}
	return true;
}

/* Reads the next request of a connection. */
static bool read_request(int fd, struct request *out)
{
	char text[8192], *at;
	unsigned long long a = 0, b = 0, object = 0;
	size_t len = 0;
	ssize_t n;

	memset(out, 0, sizeof(*out));
	while (len < 4 || memcmp(text + len - 4, "\r\n\r\n", 4) != 0) {
		if (len == sizeof(text) - 1)
			return false;
		n = recv(fd, text + len, sizeof(text) - 1 - len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		len += (size_t)n;
	}
	text[len] = '\0';
	if (sscanf(text, "GET /%llu ", &object) != 1)
		return false;
	out->object = object;
	at = strstr(text, "Range: bytes=");
	out->ranged = at && sscanf(at, "Range: bytes=%llu-%llu", &a, &b) == 2;
	out->first = a;
	out->last = b;
	at = strstr(text, "If-Match: ");
	if (at)
		sscanf(at, "If-Match: %63[^\r]", out->match);
	at = strstr(text, "If-None-Match: ");
	if (at)
		sscanf(at, "If-None-Match: %63[^\r]", out->none_match);
	return true;
}

static void reset(int fd)
{
	struct linger now = { .l_onoff = 1 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
}

static enum shard_fault choose(struct shard_server *server,
			       struct request *request)
{
	const struct shard_server_options *options = server->options;
	enum shard_fault fault = FAULT_NONE;
	uint64_t n;

	pthread_mutex_lock(&server->lock);
	server->requests++;
	n = server->asked[request->object % OBJECTS_MAX]++;
	if (options->fault)
		fault = options->fault(request->object, n, options->arg);
	server->faults[fault]++;
	if (fault == FAULT_REPLACED)
		server->replaced[request->object % OBJECTS_MAX] = true;
	request->replaced = server->replaced[request->object % OBJECTS_MAX];
	pthread_mutex_unlock(&server->lock);
	return fault;
}

struct answer {
	int status;
	uint64_t first, len; /* of the body */
	bool chunked;
	char tag[64];
	char headers[512];
};

static void make_answer(const struct shard_server *server,
			const struct request *request, enum shard_fault fault,
			struct answer *out)
{
	const struct shard_server_options *options = server->options;
	uint64_t size = options->size(request->object), last;
	bool replaced = request->replaced || fault == FAULT_TAG;
	char range[128] = "", length[64];

	memset(out, 0, sizeof(*out));
	snprintf(out->tag, sizeof(out->tag), "%s\"%llu-%d\"",
		 options->weak_tag ? "W/" : "",
		 (unsigned long long)request->object, replaced);
	if (fault == FAULT_GROWN)
		size += 512;
	out->status = 200;
	out->len = size;
	if (fault == FAULT_GONE || fault == FAULT_BUSY) {
		out->status = fault == FAULT_BUSY ? 503 : 404;
		out->len = 0;
	} else if (*request->match && strcmp(request->match, out->tag) != 0) {
		out->status = 412;
		out->len = 0;
	} else if (*request->none_match && fault == FAULT_NONE &&
		   !strcmp(request->none_match, out->tag)) {
		out->status = 304;
		out->len = 0;
	} else if (fault == FAULT_EMPTY) {
		out->status = 204;
		out->len = 0;
	} else if (request->ranged && options->ranges && fault != FAULT_WHOLE) {
		last = request->last < size ? request->last : size - 1;
		out->first = request->first;
		if (out->first >= size) {
			out->status = 416;
			out->len = 0;
			snprintf(range, sizeof(range),
				 "Content-Range: bytes */%llu\r\n",
				 (unsigned long long)size);
			goto headers;
		}
		if (fault == FAULT_OTHER_RANGE && out->first)
			out->first--;
		else if (fault == FAULT_OTHER_RANGE)
			out->first++;
		if (fault == FAULT_SHORT && last > out->first)
			last--;
		if (last < out->first)
			last = out->first;
		out->status = 206;
		out->len = last - out->first + 1;
		snprintf(range, sizeof(range),
			 "Content-Range: bytes %llu-%llu/%llu%s\r\n",
			 (unsigned long long)out->first,
			 (unsigned long long)last, (unsigned long long)size,
			 fault == FAULT_TWO_RANGES ? ",1-2/3" : "");
		if (fault == FAULT_NO_RANGE)
			*range = '\0';
	}
headers:
	snprintf(length, sizeof(length), "Content-Length: %llu",
		 (unsigned long long)out->len);
	out->chunked = options->chunked && out->status == 200;
	snprintf(out->headers, sizeof(out->headers),
		 "HTTP/1.1 %d Some\r\n%s%s%s%s%s\r\n\r\n", out->status,
		 options->no_tag ? "" : "ETag: ",
		 options->no_tag ? "" : out->tag, options->no_tag ? "" : "\r\n",
		 range, out->chunked ? "Transfer-Encoding: chunked" : length);
}

/* Replies; returns true if the connection may be used again. */
static bool reply(struct connection *one, struct request *request)
{
	enum shard_fault fault = choose(one->server, request);
	struct answer answer;
	uint64_t half;
	struct pollfd gone = { .fd = one->fd, .events = POLLIN };

	make_answer(one->server, request, fault, &answer);
	half = answer.len / 2 + (answer.len ? 1 : 0);
	switch (fault) {
	case FAULT_RESET:
		reset(one->fd);
		return false;
	case FAULT_CLOSE:
		return false;
	case FAULT_CUT_HEADERS:
		send_all(one->fd, answer.headers, strlen(answer.headers) / 2);
		return false;
	case FAULT_CUT:
	case FAULT_RESET_BODY:
	case FAULT_STALL:
		/* Send less than all of it, even if that is one byte. */
		half = answer.len ? half - 1 : 0;
		send_all(one->fd, answer.headers, strlen(answer.headers));
		send_bytes(one->fd, request->object, answer.first, half,
			   answer.chunked);
		if (fault == FAULT_STALL)
			poll(&gone, 1, -1);
		if (fault == FAULT_RESET_BODY)
			reset(one->fd);
		return false;
	default:
		return send_all(one->fd, answer.headers,
				strlen(answer.headers)) &&
		       send_bytes(one->fd,
				  request->object + (fault == FAULT_TAG),
				  answer.first, answer.len, answer.chunked) &&
		       (!answer.chunked || send_all(one->fd, "0\r\n\r\n", 5));
	}
}

static void *serve(void *arg)
{
	struct connection *one = arg;
	struct request request;
	int fd = one->fd;

	while (read_request(fd, &request) && reply(one, &request))
		;
	/* Forget the descriptor before closing it, as its number may be reused
	 * at once. */
	pthread_mutex_lock(&one->server->lock);
	one->fd = -1;
	pthread_mutex_unlock(&one->server->lock);
	close(fd);
	return NULL;
}

/* Returns the place of an ended connection, or a new one. */
static struct connection *find_place(struct shard_server *server)
{
	struct connection *one;
	size_t i;

	for (i = 0; i < server->connection_count; i++) {
		one = &server->connections[i];
		if (one->fd < 0) {
			pthread_join(one->thread, NULL);
			return one;
		}
	}
	assert(server->connection_count < CONNECTIONS_MAX);
	return &server->connections[server->connection_count++];
}

static void *accept_all(void *arg)
{
	struct shard_server *server = arg;
	struct connection *one;
	int fd, yes = 1;

	while ((fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
		pthread_mutex_lock(&server->lock);
		one = find_place(server);
		one->server = server;
		one->fd = fd;
		pthread_create(&one->thread, NULL, serve, one);
		pthread_mutex_unlock(&server->lock);
	}
	return NULL;
}

struct shard_server *
shard_server_start(const struct shard_server_options *options)
{
	struct shard_server *server = mem_alloc(sizeof(*server));
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(at);

	server->options = options;
	pthread_mutex_init(&server->lock, NULL);
	server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert(bind(server->fd, (struct sockaddr *)&at, len) == 0);
	assert(listen(server->fd, 512) == 0);
	assert(getsockname(server->fd, (struct sockaddr *)&at, &len) == 0);
	server->port = ntohs(at.sin_port);
	pthread_create(&server->thread, NULL, accept_all, server);
	return server;
}

void shard_server_stop(struct shard_server *server)
{
	size_t i;

	shutdown(server->fd, SHUT_RDWR);
	pthread_join(server->thread, NULL);
	close(server->fd);
	pthread_mutex_lock(&server->lock);
	for (i = 0; i < server->connection_count; i++)
		if (server->connections[i].fd >= 0)
			shutdown(server->connections[i].fd, SHUT_RDWR);
	pthread_mutex_unlock(&server->lock);
	for (i = 0; i < server->connection_count; i++)
		pthread_join(server->connections[i].thread, NULL);
	pthread_mutex_destroy(&server->lock);
	free(server);
}

int shard_server_port(const struct shard_server *server)
{
	return server->port;
}

static size_t count_of(struct shard_server *server, const size_t *counter)
{
	size_t n;

	pthread_mutex_lock(&server->lock);
	n = *counter;
	pthread_mutex_unlock(&server->lock);
	return n;
}

size_t shard_server_faults(struct shard_server *server, enum shard_fault fault)
{
	return count_of(server, &server->faults[fault]);
}

size_t shard_server_requests(struct shard_server *server)
{
	return count_of(server, &server->requests);
}
