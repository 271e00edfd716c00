/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A long link: relay LISTEN-PORT PORT RTT-MS WINDOW-BYTES.  What passes in
 * either direction takes half a round trip; of what comes back, a connection
 * has at most a window under way, as one of TCP has; opening one takes a round
 * trip.  One thread.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LINKS_MAX 256
#define SEGMENTS 1024
#define REQUESTS_MAX 65536

struct segment {
	int64_t at_us; /* when it was read */
	size_t len;
};

/* Bytes under way in one direction: segments `freed` up to `read`, of which
 * those before `sent` have arrived. */
struct run_context {
	int from, to;
	char *ring;
	size_t size, begin, used; /* not freed yet */
	size_t waiting;           /* of these, not sent yet */
	struct segment segments[SEGMENTS];
	size_t freed, sent, read;
	size_t sent_part; /* of the segment `sent` */
	int64_t not_before_us;
	bool ended;
};

struct link {
	struct run_context up, down;
};

static int64_t half_us;

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static bool has_room(const struct run_context *context)
{
	return !context->ended && context->used < context->size &&
	       context->read - context->freed < SEGMENTS;
}

/* False: the connection has broken. */
static bool take(struct run_context *context, int64_t now)
{
	size_t at = (context->begin + context->used) % context->size;
	size_t room = context->size - context->used;
	ssize_t n;

	if (room > context->size - at)
		room = context->size - at;
	n = recv(context->from, context->ring + at, room, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0) {
		context->ended = true;
		return true;
	}
	if (now < context->not_before_us)
		now = context->not_before_us;
	context->segments[context->read++ % SEGMENTS] =
		(struct segment){ now, (size_t)n };
	context->used += (size_t)n;
	context->waiting += (size_t)n;
	return true;
}

/* Sends what has arrived, and frees what the other end has heard of. */
static bool give(struct run_context *context, int64_t now)
{
	while (context->sent < context->read) {
		struct segment *one =
			&context->segments[context->sent % SEGMENTS];
		size_t at =
			(context->begin + context->used - context->waiting) %
			context->size;
		size_t len = one->len - context->sent_part;
		ssize_t n;

		if (one->at_us + half_us > now)
			break;
		n = send(context->to, context->ring + at, len,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		if (n <= 0)
			break;
		context->waiting -= (size_t)n;
		context->sent_part += (size_t)n;
		if (context->sent_part == one->len) {
			context->sent++;
			context->sent_part = 0;
		}
	}
	while (context->freed < context->sent) {
		struct segment *one =
			&context->segments[context->freed % SEGMENTS];

		if (one->at_us + 2 * half_us > now)
			break;
		context->begin = (context->begin + one->len) % context->size;
		context->used -= one->len;
		context->freed++;
	}
	return !context->ended || context->sent < context->read;
}

/* When it has something to do without being woken by a descriptor. */
static int64_t next_us(const struct run_context *context)
{
	int64_t next = INT64_MAX, at;

	if (context->sent < context->read) {
		at = context->segments[context->sent % SEGMENTS].at_us +
		     half_us;
		next = at;
	}
	if (context->freed < context->sent) {
		at = context->segments[context->freed % SEGMENTS].at_us +
		     2 * half_us;
		next = at < next ? at : next;
	}
	return next;
}

static void run_context_init(struct run_context *context, int from, int to,
			     size_t size)
{
	memset(context, 0, sizeof(*context));
	context->from = from;
	context->to = to;
	context->size = size;
	context->ring = malloc(size);
}

static struct link *open_link(int client, int port, size_t window)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct link *link = malloc(sizeof(*link));
	int server = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

	if (!link || connect(server, (struct sockaddr *)&to, sizeof(to)) < 0) {
		perror("relay");
		exit(1);
	}
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	run_context_init(&link->up, client, server, REQUESTS_MAX);
	run_context_init(&link->down, server, client, window);
	link->up.not_before_us = now_us() + 2 * half_us;
	return link;
}

static void close_link(struct link *link)
{
	close(link->up.from);
	close(link->down.from);
	free(link->up.ring);
	free(link->down.ring);
	free(link);
}

static short events_of(const struct run_context *in,
		       const struct run_context *out, int64_t now)
{
	bool due = out->sent < out->read &&
		   out->segments[out->sent % SEGMENTS].at_us + half_us <= now;

	return (short)((has_room(in) ? POLLIN : 0) | (due ? POLLOUT : 0));
}

static int listen_at(int port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(fd, LINKS_MAX) < 0) {
		perror("relay");
		exit(1);
	}
	return fd;
}

/* One turn of a link; false: it is over. */
static bool turn(struct link *link, int64_t now)
{
	if ((has_room(&link->up) && !take(&link->up, now)) ||
	    (has_room(&link->down) && !take(&link->down, now)))
		return false;
	return give(&link->up, now) && give(&link->down, now);
}

int main(int argc, char **argv)
{
	static struct pollfd at[2 * LINKS_MAX + 1];
	static struct link *links[LINKS_MAX];
	size_t count = 0, i, window;
	struct timespec wait;
	int64_t now, next, one;
	int fd, port;

	if (argc != 5)
		return 64;
	fd = listen_at(atoi(argv[1]));
	port = atoi(argv[2]);
	half_us = atoi(argv[3]) * 500;
	window = (size_t)atoll(argv[4]);
	for (;;) {
		now = now_us();
		next = INT64_MAX;
		at[0] = (struct pollfd){ .fd = fd,
					 .events = count < LINKS_MAX ? POLLIN
								     : 0 };
		for (i = 0; i < count; i++) {
			struct link *link = links[i];

			at[2 * i + 1].fd = link->up.from;
			at[2 * i + 1].events =
				events_of(&link->up, &link->down, now);
			at[2 * i + 2].fd = link->down.from;
			at[2 * i + 2].events =
				events_of(&link->down, &link->up, now);
			one = next_us(&link->up);
			next = one > now && one < next ? one : next;
			one = next_us(&link->down);
			next = one > now && one < next ? one : next;
		}
		next = next == INT64_MAX ? 1000000 : next - now;
		wait.tv_sec = next / 1000000;
		wait.tv_nsec = next % 1000000 * 1000;
		ppoll(at, 2 * count + 1, &wait, NULL);
		now = now_us();
		for (i = count; i-- > 0;) {
			if (turn(links[i], now))
				continue;
			close_link(links[i]);
			links[i] = links[--count];
		}
		if (at[0].revents & POLLIN)
			links[count++] =
				open_link(accept(fd, NULL, NULL), port, window);
	}
}
