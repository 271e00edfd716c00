/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of a program passes through the process that runs it, which reads
 * the metric of the checkpoints from it.  No byte is held back or lost: if the
 * reader is slow, the pipe fills up and the program waits, as it would without
 * us.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/checkpoint/saver_heard.h"
#include "core/task/launch_internal.h"

#define PIECE (64 << 10)

struct passing {
	struct launch_listener *all;
	struct loop_event *event; /* for more output, or for room */
	int from;                 /* -1: it has ended */
	int theirs;               /* the program's end; -1: closed here */
	int to;
	struct buf pending; /* read, but not passed on yet */
};

struct launch_listener {
	struct heard *heard;
	struct loop *loop; /* NULL: not open */
	struct passing streams[HEARD_STREAMS];
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

struct launch_listener *launch_listener_new(struct heard *heard)
{
	struct launch_listener *all = mem_alloc(sizeof(*all));

	all->heard = heard;
	for (int i = 0; i < HEARD_STREAMS; i++)
		all->streams[i] = (struct passing){ .all = all,
						    .from = -1,
						    .theirs = -1,
						    .to = STDOUT_FILENO + i };
	return all;
}

static void stop_listening(struct passing *stream)
{
	if (stream->event)
		loop_remove(stream->all->loop, stream->event);
	stream->event = NULL;
}

void launch_listener_free(struct launch_listener *all)
{
	if (!all)
		return;
	for (int i = 0; i < HEARD_STREAMS; i++) {
		close_fd(&all->streams[i].from);
		close_fd(&all->streams[i].theirs);
		buf_done(&all->streams[i].pending);
	}
	heard_close(all->heard);
	free(all);
}

/* Reads output; returns what read() returns. */
static ssize_t take(struct passing *stream)
{
	struct launch_listener *all = stream->all;
	char *to = buf_reserve(&stream->pending, PIECE);
	ssize_t n = read(stream->from, to, PIECE);

	if (n > 0) {
		stream->pending.len += (size_t)n;
		heard_add(all->heard, (int)(stream - all->streams), to,
			  (size_t)n, time_now_ms());
	} else if (n == 0) {
		stop_listening(stream);
		close_fd(&stream->from);
	}
	return n;
}

/* Passes on a piece that fits into any pipe reported as writable. */
static void give(struct passing *stream)
{
	size_t len =
		stream->pending.len < PIPE_BUF ? stream->pending.len : PIPE_BUF;
	ssize_t n = write(stream->to, stream->pending.data, len);

	if (n > 0) {
		buf_drop(&stream->pending, (size_t)n);
	} else if (n < 0 && errno != EINTR && errno != EAGAIN) {
		/* Nobody reads the output any more, so the program gets
		 * SIGPIPE. */
		buf_clear(&stream->pending);
		stop_listening(stream);
		close_fd(&stream->from);
	}
}

static void pass_on(void *arg, uint32_t events);

/* Waits for room if something is pending, else for more output. */
static void listen_on(struct passing *stream)
{
	struct loop *loop = stream->all->loop;
	struct error ignored;

	stop_listening(stream);
	if (stream->pending.len)
		stream->event = loop_add_fd(loop, stream->to, EPOLLOUT, pass_on,
					    stream, &ignored);
	/* A file, which epoll rejects, always has room. */
	while (stream->pending.len && !stream->event)
		give(stream);
	if (stream->from >= 0 && !stream->event)
		stream->event = loop_add_fd(loop, stream->from, EPOLLIN,
					    pass_on, stream, &ignored);
}

static void pass_on(void *arg, uint32_t events)
{
	struct passing *stream = arg;
	bool had = stream->pending.len;

	(void)events;
	if (had)
		give(stream);
	else
		take(stream);
	if (had != (stream->pending.len > 0) || stream->from < 0)
		listen_on(stream);
}

int launch_listener_open(struct launch_listener *all, struct loop *loop,
			 struct error *err)
{
	all->loop = loop;
	for (int i = 0; i < HEARD_STREAMS; i++) {
		struct passing *stream = &all->streams[i];
		int ends[2];

		if (pipe2(ends, O_CLOEXEC) < 0)
			return error_errno(err, "cannot create a pipe");
		fcntl(ends[0], F_SETFL, O_NONBLOCK);
		stream->from = ends[0];
		stream->theirs = ends[1];
		listen_on(stream);
		if (!stream->event)
			return error_set(err, ERROR_FAILED,
					 "cannot read its output");
	}
	return 0;
}

int launch_listener_end_of(const struct launch_listener *all, int stream)
{
	return all->streams[stream].theirs;
}

void launch_listener_started(struct launch_listener *all)
{
	for (int i = 0; i < HEARD_STREAMS; i++)
		close_fd(&all->streams[i].theirs);
}

void launch_listener_end(struct launch_listener *all)
{
	for (int i = 0; i < HEARD_STREAMS; i++) {
		struct passing *stream = &all->streams[i];

		stop_listening(stream);
		do {
			while (stream->pending.len)
				give(stream);
		} while (stream->from >= 0 && take(stream) > 0);
		close_fd(&stream->from);
	}
}
