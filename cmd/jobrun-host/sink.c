/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what peers send to the ports held open, to measure how fast they do:
 * greets each with a byte, and closes a connection after the peer. */
#include "cmd/jobrun-host/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/alloc.h"

#define BLOCK (256 << 10)
/* Connections at a time; others wait. */
#define SINKS_MAX 64

struct sink_end {
	struct peer_sink *sink;
	int fd; /* -1: free */
	struct loop_event *event;
};

struct peer_sink {
	struct loop *loop;
	int listener;
	struct loop_event *event;
	struct sink_end ends[SINKS_MAX];
};

static void end_close(struct sink_end *end)
{
	if (end->fd < 0)
		return;
	loop_remove(end->sink->loop, end->event);
	close(end->fd);
	end->fd = -1;
}

static void on_data(void *arg, uint32_t events)
{
	static char block[BLOCK];
	struct sink_end *end = arg;
	ssize_t n = read(end->fd, block, sizeof(block));

	(void)events;
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	end_close(end);
}

static void on_peer(void *arg, uint32_t events)
{
	struct peer_sink *sink = arg;
	struct sink_end *end = sink->ends;
	struct error ignored;

	(void)events;
	while (end < sink->ends + SINKS_MAX && end->fd >= 0)
		end++;
	if (end == sink->ends + SINKS_MAX)
		return;
	end->fd = accept4(sink->listener, NULL, NULL,
			  SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (end->fd < 0)
		return;
	end->event = loop_add_fd(sink->loop, end->fd, EPOLLIN, on_data, end,
				 &ignored);
	if (!end->event || send(end->fd, "", 1, MSG_NOSIGNAL) != 1)
		end_close(end);
}

struct peer_sink *sink_new(struct loop *loop, int listener, struct error *err)
{
	struct peer_sink *sink = mem_alloc(sizeof(*sink));
	size_t i;

	*sink = (struct peer_sink){ .loop = loop, .listener = listener };
	for (i = 0; i < SINKS_MAX; i++)
		sink->ends[i] = (struct sink_end){ .sink = sink, .fd = -1 };
	fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) | O_NONBLOCK);
	sink->event = loop_add_fd(loop, listener, EPOLLIN, on_peer, sink, err);
	if (sink->event)
		return sink;
	free(sink);
	return NULL;
}

void sink_free(struct peer_sink *sink)
{
	size_t i;

	if (!sink)
		return;
	loop_remove(sink->loop, sink->event);
	for (i = 0; i < SINKS_MAX; i++)
		end_close(&sink->ends[i]);
	free(sink);
}
