/* SPDX-License-Identifier: Apache-2.0 */
#include "core/enter/port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/alloc.h"

/* How much one direction holds that its reader has not taken yet. */
#define FLOW_SIZE ((size_t)64 << 10)

/* One direction. */
struct flow {
	int from, to;
	size_t at, len; /* what is left to write is data[at..len) */
	bool ended;     /* `from` has no more */
	bool gone;      /* nobody takes what goes to `to` */
	char data[FLOW_SIZE];
};

static bool holds(const struct flow *flow)
{
	return flow->at < flow->len;
}

static bool is_later(int error)
{
	return error == EAGAIN || error == EINTR;
}

static void take(struct flow *flow)
{
	ssize_t n = read(flow->from, flow->data, sizeof(flow->data));

	if (n < 0 && is_later(errno))
		return;
	flow->at = 0;
	flow->len = n > 0 ? (size_t)n : 0;
	flow->ended = n <= 0;
}

static void give(struct flow *flow)
{
	ssize_t n =
		write(flow->to, flow->data + flow->at, flow->len - flow->at);

	if (n >= 0)
		flow->at += (size_t)n;
	else if (!is_later(errno))
		flow->gone = true;
}

/* Passes on what is there, both ways; waits if there is nothing. */
static int turn(struct flow *there, struct flow *back, struct error *err)
{
	bool reads = !there->ended && !holds(there);
	struct pollfd fds[] = {
		{ .fd = reads ? there->from : -1, .events = POLLIN },
		{ .fd = there->to },
		{ .fd = back->to },
	};

	if (holds(there))
		fds[1].events |= POLLOUT;
	if (!back->ended && !holds(back))
		fds[1].events |= POLLIN;
	if (holds(back))
		fds[2].events |= POLLOUT;
	if (!fds[1].events)
		fds[1].fd = -1;
	if (poll(fds, COUNT(fds), -1) < 0)
		return errno == EINTR ? 0 : error_errno(err, "cannot wait");
	if (fds[0].revents)
		take(there);
	if (holds(there) && fds[1].revents)
		give(there);
	if (!back->ended && !holds(back) && fds[1].revents)
		take(back);
	if (holds(back) && fds[2].revents & POLLOUT)
		give(back);
	else if (fds[2].revents & (POLLERR | POLLHUP))
		back->gone = true;
	return 0;
}

static int relay(int fd, struct error *err)
{
	struct flow *there = mem_alloc(sizeof(*there));
	struct flow *back = mem_alloc(sizeof(*back));
	bool told = false; /* that our input has ended */
	int ret = 0;

	there->from = STDIN_FILENO;
	back->to = STDOUT_FILENO;
	there->to = back->from = fd;
	while (ret == 0 && !back->gone && (!back->ended || holds(back))) {
		if (there->gone) {
			there->ended = true;
			there->at = there->len;
		}
		if (there->ended && !holds(there) && !told)
			told = shutdown(fd, SHUT_WR) == 0 || there->gone;
		ret = turn(there, back, err);
	}
	free(there);
	free(back);
	return ret;
}

/* Returns the connection, or -1. */
static int connect_to(const struct sockaddr *address, socklen_t size)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int ret = fd < 0 ? -1 : connect(fd, address, size);
	int error = errno;

	if (ret == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	errno = error;
	return -1;
}

static int open_port(long port, struct error *err)
{
	const struct sockaddr_in four = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const struct sockaddr_in6 six = {
		.sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)port),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	int fd = connect_to((const struct sockaddr *)&four, sizeof(four));
	int error = errno;

	if (fd < 0)
		fd = connect_to((const struct sockaddr *)&six, sizeof(six));
	if (fd >= 0)
		return fd;
	if (error == ECONNREFUSED)
		return error_set(err, ERROR_FAILED,
				 "nothing listens on port %ld of the task's "
				 "machine",
				 port);
	errno = error;
	return error_errno(err, "cannot connect to port %ld", port);
}

static void make_quick(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

int port_relay(long port, struct error *err)
{
	int fd = open_port(port, err), on = 1, ret;

	if (fd < 0)
		return -1;
	signal(SIGPIPE, SIG_IGN);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	make_quick(fd);
	make_quick(STDIN_FILENO);
	make_quick(STDOUT_FILENO);
	ret = relay(fd, err);
	close(fd);
	return ret;
}
