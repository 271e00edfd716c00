/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each task sends one line: "jobrun-peers 1 ORDINAL COUNT JOBID".  The answer
 * is "go" once all have come, or "no" to a task of another run.  Tasks close
 * first, so that their ports linger in TIME_WAIT rather than the rendezvous
 * port.
 */
#include "core/topology/peers.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/units.h"

#define LINE_MAX_BYTES 512
#define GUESTS_MORE 64   /* connections of strangers allowed beyond the tasks */
#define RETRY_MS 250     /* between two tries to connect */
#define CONNECT_MS 5000  /* for one try */
#define FAREWELL_MS 5000 /* until tasks have closed */
#define MISSING_NAMED 8

/* A connection to the first task. */
struct guest {
	int fd;
	int ordinal; /* -1: not known yet */
	size_t len;
	char line[LINE_MAX_BYTES];
};

struct gathering {
	const struct topology *all;
	size_t count; /* tasks to wait for */
	size_t here;  /* how many have come, including this one */
	struct guest *guests;
	struct pollfd *polls; /* [0] listens, then the guests */
	size_t guest_count, guest_max;
};

/* The number of ordinals, from 0, that all tasks know. */
static size_t count_known(const struct topology *all)
{
	size_t count = all->count;

	while (count && all->tasks[count - 1].type == TASK_EVALUATOR)
		count--;
	return count;
}

static int make_line(const struct topology *all, size_t ordinal, size_t count,
		     char *out, size_t size)
{
	return snprintf(out, size, "jobrun-peers 1 %zu %zu %.200s\n", ordinal,
			count, all->job_id);
}

static int listen_at(int port, struct error *err)
{
	struct sockaddr_in6 any6 = { .sin6_family = AF_INET6,
				     .sin6_port = htons((uint16_t)port) };
	struct sockaddr_in any = { .sin_family = AF_INET,
				   .sin_port = htons((uint16_t)port) };
	const int on = 1, off = 0;
	int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
	int fd = socket(AF_INET6, type, 0);
	int bound;

	if (fd >= 0) {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		bound = bind(fd, (struct sockaddr *)&any6, sizeof(any6));
	} else {
		fd = socket(AF_INET, type, 0);
		if (fd < 0)
			return error_errno(err, "cannot create a socket");
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		bound = bind(fd, (struct sockaddr *)&any, sizeof(any));
	}
	if (bound < 0 || listen(fd, SOMAXCONN) < 0) {
		error_errno(err, "cannot listen on port %d", port);
		close(fd);
		return -1;
	}
	return fd;
}

static void drop(struct gathering *g, size_t at)
{
	if (g->guests[at].ordinal >= 0)
		g->here--;
	close(g->guests[at].fd);
	g->guests[at] = g->guests[--g->guest_count];
	g->polls[at + 1] = g->polls[g->guest_count + 1];
}

static void welcome(struct gathering *g)
{
	int fd = accept4(g->polls[0].fd, NULL, NULL,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (g->guest_count == g->guest_max) {
		close(fd);
		return;
	}
	g->guests[g->guest_count] = (struct guest){ .fd = fd, .ordinal = -1 };
	g->guest_count++;
	g->polls[g->guest_count] =
		(struct pollfd){ .fd = fd, .events = POLLIN };
}

/* Takes a task in by its line; false if it is not one of this run's. */
static bool take_in(struct gathering *g, size_t at)
{
	struct guest *guest = &g->guests[at];
	char expected[LINE_MAX_BYTES];
	size_t ordinal, i;
	int n;

	if (sscanf(guest->line, "jobrun-peers 1 %zu ", &ordinal) != 1 ||
	    ordinal == 0 || ordinal >= g->count)
		return false;
	n = make_line(g->all, ordinal, g->count, expected, sizeof(expected));
	if ((size_t)n != guest->len || memcmp(expected, guest->line, (size_t)n))
		return false;
	/* A restarted task comes again. */
	for (i = 0; i < g->guest_count; i++) {
		if (g->guests[i].ordinal == (int)ordinal) {
			g->guests[i].ordinal = -1;
			g->here--;
		}
	}
	guest->ordinal = (int)ordinal;
	g->here++;
	return true;
}

static void hear(struct gathering *g, size_t at)
{
	struct guest *guest = &g->guests[at];
	ssize_t n = recv(guest->fd, guest->line + guest->len,
			 sizeof(guest->line) - 1 - guest->len, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* A task that has come says nothing more: it has gone, or is an
	 * impostor. */
	if (n <= 0 || guest->ordinal >= 0) {
		drop(g, at);
		return;
	}
	guest->len += (size_t)n;
	guest->line[guest->len] = '\0';
	if (!memchr(guest->line, '\n', guest->len)) {
		if (guest->len == sizeof(guest->line) - 1)
			drop(g, at);
		return;
	}
	if (!take_in(g, at)) {
		send(guest->fd, "no\n", 3, MSG_NOSIGNAL);
		drop(g, at);
	}
}

/* Handles connections until `until`; false when that time has passed. */
static bool attend(struct gathering *g, int64_t until)
{
	int64_t left = until - time_monotonic_ms();
	size_t i;

	if (left <= 0)
		return false;
	if (poll(g->polls, g->guest_count + 1,
		 left > 1000 ? 1000 : (int)left) <= 0)
		return true;
	/* From the last, as dropping one moves the last into its place. */
	for (i = g->guest_count; i > 0; i--)
		if (g->polls[i].revents)
			hear(g, i - 1);
	if (g->polls[0].revents)
		welcome(g);
	return true;
}

static int missing(const struct gathering *g, long timeout_s, struct error *err)
{
	struct buf names = { 0 };
	char limit[32];
	size_t named = 0;
	size_t i, j;

	for (i = 1; i < g->count; i++) {
		const struct task_place *task = &g->all->tasks[i];

		for (j = 0; j < g->guest_count; j++)
			if (g->guests[j].ordinal == (int)i)
				break;
		if (j < g->guest_count || ++named > MISSING_NAMED)
			continue;
		buf_printf(&names, "%s%s %d (%s)", named > 1 ? ", " : "",
			   task_type_name(task->type), task->index, task->host);
	}
	if (named > MISSING_NAMED)
		buf_puts(&names, " …");
	duration_format(timeout_s, limit, sizeof(limit));
	error_set(err, ERROR_TIMEOUT,
		  "%zu of %zu tasks had not started after %s: %s",
		  g->count - g->here, g->count, limit, buf_text(&names));
	buf_done(&names);
	return -1;
}

static int gather(const struct topology *all, size_t count, long timeout_s,
		  struct error *err)
{
	int64_t until = time_monotonic_ms() + timeout_s * 1000;
	struct gathering g = { .all = all,
			       .count = count,
			       .here = 1,
			       .guest_max = count + GUESTS_MORE };
	int fd = listen_at(all->master_port, err);
	int ret = -1;
	size_t i;

	if (fd < 0)
		return -1;
	g.guests = mem_alloc(g.guest_max * sizeof(*g.guests));
	g.polls = mem_alloc((g.guest_max + 1) * sizeof(*g.polls));
	g.polls[0] = (struct pollfd){ .fd = fd, .events = POLLIN };
	while (g.here < count)
		if (!attend(&g, until))
			break;
	if (g.here < count) {
		missing(&g, timeout_s, err);
	} else {
		for (i = 0; i < g.guest_count; i++)
			if (g.guests[i].ordinal >= 0)
				send(g.guests[i].fd, "go\n", 3, MSG_NOSIGNAL);
		until = time_monotonic_ms() + FAREWELL_MS;
		while (g.here > 1 && attend(&g, until))
			;
		ret = 0;
	}
	while (g.guest_count)
		drop(&g, g.guest_count - 1);
	close(fd);
	free(g.polls);
	free(g.guests);
	return ret;
}

/* Connects to one address; returns a descriptor, or -1 with errno. */
static int connect_to(const struct addrinfo *to, int64_t until)
{
	int64_t left = until - time_monotonic_ms();
	int fd = socket(to->ai_family,
			SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	socklen_t size = sizeof(int);
	int why = 0;

	if (fd < 0)
		return -1;
	if (connect(fd, to->ai_addr, to->ai_addrlen) == 0)
		return fd;
	why = errno;
	if (why == EINPROGRESS) {
		why = ETIMEDOUT;
		if (left > CONNECT_MS)
			left = CONNECT_MS;
		if (poll(&wait, 1, left > 0 ? (int)left : 0) > 0)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size);
	}
	if (!why)
		return fd;
	close(fd);
	errno = why;
	return -1;
}

static int connect_host(const char *host, int port, int64_t until, char *why,
			size_t size)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found, *at;
	char service[16];
	int fd = -1;
	int failed;

	snprintf(service, sizeof(service), "%d", port);
	failed = getaddrinfo(host, service, &hints, &found);
	if (failed) {
		snprintf(why, size, "%s", gai_strerror(failed));
		return -1;
	}
	for (at = found; at && fd < 0; at = at->ai_next)
		fd = connect_to(at, until);
	if (fd < 0)
		snprintf(why, size, "%s", strerror(errno));
	freeaddrinfo(found);
	return fd;
}

/* 1: all have come; 0: the connection ended; -1: it is another run's. */
static int await_word(int fd, const char *line, size_t len, int64_t until)
{
	char word[4] = "";
	size_t got = 0;

	if (send(fd, line, len, MSG_NOSIGNAL) != (ssize_t)len)
		return 0;
	while (got < 3) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		int64_t left = until - time_monotonic_ms();
		ssize_t n;

		if (left <= 0)
			return 0;
		if (poll(&wait, 1, left > 1000 ? 1000 : (int)left) <= 0)
			continue;
		n = recv(fd, word + got, 3 - got, 0);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0)
			return 0;
		got += (size_t)n;
	}
	return !strcmp(word, "go\n") ? 1 : -1;
}

static int join(const struct topology *all, size_t self, size_t count,
		long timeout_s, struct error *err)
{
	int64_t until = time_monotonic_ms() + timeout_s * 1000;
	const struct timespec pause = { .tv_nsec = RETRY_MS * 1000000L };
	const char *host = all->tasks[0].host;
	char line[LINE_MAX_BYTES], limit[32];
	char why[160] = "it did not release us";
	int len = make_line(all, self, count, line, sizeof(line));

	do {
		int fd = connect_host(host, all->master_port, until, why,
				      sizeof(why));
		int word = 0;

		if (fd >= 0) {
			word = await_word(fd, line, (size_t)len, until);
			close(fd);
			snprintf(why, sizeof(why), "not all tasks had started");
		}
		if (word > 0)
			return 0;
		if (word < 0)
			return error_set(err, ERROR_FAILED,
					 "%s:%d belongs to another run, or "
					 "sees other tasks",
					 host, all->master_port);
		nanosleep(&pause, NULL);
	} while (time_monotonic_ms() < until);
	duration_format(timeout_s, limit, sizeof(limit));
	return error_set(err, ERROR_TIMEOUT,
			 "the first task, at %s:%d, did not release us after "
			 "%s: %s",
			 host, all->master_port, limit, why);
}

int peers_wait(const struct topology *all, size_t self, long timeout_s,
	       struct error *err)
{
	size_t count = count_known(all);

	if (self >= count || count < 2)
		return 0;
	if (!all->master_port)
		return error_set(err, ERROR_INVALID,
				 "the port where tasks meet is not known");
	return self == 0 ? gather(all, count, timeout_s, err)
			 : join(all, self, count, timeout_s, err);
}
