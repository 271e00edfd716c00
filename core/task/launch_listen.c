/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program writes passes through the process that runs it, which reads
 * the metric of its checkpoints there.  Not a byte is held back or lost: what
 * the other end does not take yet fills the pipe, and the program waits, as it
 * would without us.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <fcntl.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/checkpoint/saver_heard.h"
#include "core/task/launch_internal.h"

#define PIECE (64 << 10)

struct passing {
	int from;   /* -1: it has ended */
	int theirs; /* the program's end of the pipe; -1: closed here */
	int to;
	struct buf pending; /* read, and not passed on yet */
};

struct launch_listener {
	struct heard *heard;
	int signal_fd; /* readable while a signal waits */
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
	all->signal_fd = -1;
	for (int i = 0; i < HEARD_STREAMS; i++)
		all->streams[i] = (struct passing){ .from = -1,
						    .theirs = -1,
						    .to = STDOUT_FILENO + i };
	return all;
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
	close_fd(&all->signal_fd);
	heard_close(all->heard);
	free(all);
}

int launch_listener_open(struct launch_listener *all, const sigset_t *signals,
			 struct error *err)
{
	int ends[2];

	for (int i = 0; i < HEARD_STREAMS; i++) {
		if (pipe2(ends, O_CLOEXEC) < 0)
			return error_errno(err, "cannot make a pipe");
		fcntl(ends[0], F_SETFL, O_NONBLOCK);
		all->streams[i].from = ends[0];
		all->streams[i].theirs = ends[1];
	}
	all->signal_fd = signalfd(-1, signals, SFD_CLOEXEC);
	if (all->signal_fd < 0)
		return error_errno(err, "cannot watch for signals");
	return 0;
}

void launch_listener_become(const struct launch_listener *all)
{
	for (int i = 0; i < HEARD_STREAMS; i++)
		if (dup2(all->streams[i].theirs, all->streams[i].to) < 0)
			_exit(127);
}

void launch_listener_started(struct launch_listener *all)
{
	for (int i = 0; i < HEARD_STREAMS; i++)
		close_fd(&all->streams[i].theirs);
}

/* Returns as read() does. */
static ssize_t take(struct launch_listener *all, int i)
{
	struct passing *stream = &all->streams[i];
	char *to = buf_reserve(&stream->pending, PIECE);
	ssize_t n = read(stream->from, to, PIECE);

	if (n > 0) {
		stream->pending.len += (size_t)n;
		heard_add(all->heard, i, to, (size_t)n, time_now_ms());
	} else if (n == 0) {
		close_fd(&stream->from);
	}
	return n;
}

/* A piece that a pipe with any room takes without a wait. */
static void give(struct passing *stream)
{
	size_t len =
		stream->pending.len < PIPE_BUF ? stream->pending.len : PIPE_BUF;
	ssize_t n = write(stream->to, stream->pending.data, len);

	if (n > 0) {
		buf_drop(&stream->pending, (size_t)n);
	} else if (n < 0 && errno != EINTR && errno != EAGAIN) {
		/* Nobody reads it any more, as the program shall learn. */
		buf_clear(&stream->pending);
		close_fd(&stream->from);
	}
}

void launch_listener_wait(struct launch_listener *all,
			  const struct timespec *limit)
{
	struct pollfd fds[HEARD_STREAMS + 1];

	for (int i = 0; i < HEARD_STREAMS; i++) {
		const struct passing *stream = &all->streams[i];

		fds[i] = stream->pending.len
				 ? (struct pollfd){ .fd = stream->to,
						    .events = POLLOUT }
				 : (struct pollfd){ .fd = stream->from,
						    .events = POLLIN };
	}
	fds[HEARD_STREAMS] =
		(struct pollfd){ .fd = all->signal_fd, .events = POLLIN };
	if (ppoll(fds, HEARD_STREAMS + 1, limit, NULL) <= 0)
		return;
	for (int i = 0; i < HEARD_STREAMS; i++) {
		if (!fds[i].revents)
			continue;
		if (all->streams[i].pending.len)
			give(&all->streams[i]);
		else
			take(all, i);
	}
}

void launch_listener_end(struct launch_listener *all)
{
	for (int i = 0; i < HEARD_STREAMS; i++) {
		struct passing *stream = &all->streams[i];

		do {
			while (stream->pending.len)
				give(stream);
		} while (stream->from >= 0 && take(all, i) > 0);
		close_fd(&stream->from);
	}
}
