/* SPDX-License-Identifier: Apache-2.0 */
#include "core/process/ports.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/alloc.h"

#define PORT_MAX 65535

struct port_leases {
	size_t count;
	int fds[];
};

/* Returns a descriptor that holds the name, or -1. */
static int take_name(int port)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int len;

	if (fd < 0)
		return -1;
	/* A leading 0 byte makes the name abstract: there is no file. */
	len = snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1,
		       "jobrun/port/%d", port);
	if (bind(fd, (struct sockaddr *)&at,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			     (size_t)len)) < 0) {
		int saved = errno;

		close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

/* 1: yes.  0: somebody has it.  -1: unknown, see errno. */
static int can_bind(int port)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int on = 1;
	int ok;

	if (fd < 0)
		return -1;
	/* Ignores ports in TIME_WAIT, as trainers do. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	ok = bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0;
	close(fd);
	return ok;
}

struct port_leases *ports_lease(int first, size_t count, int *ports,
				struct error *err)
{
	struct port_leases *leases =
		mem_alloc(sizeof(*leases) + count * sizeof(leases->fds[0]));
	int port, fd, unused;

	for (port = first; leases->count < count && port <= PORT_MAX; port++) {
		fd = take_name(port);
		if (fd < 0 && errno != EADDRINUSE) {
			error_errno(err, "cannot lease port %d", port);
			goto fail;
		}
		if (fd < 0)
			continue;
		unused = can_bind(port);
		if (unused < 0) {
			error_errno(err, "cannot lease port %d", port);
			close(fd);
			goto fail;
		}
		if (!unused) {
			close(fd);
			continue;
		}
		ports[leases->count] = port;
		leases->fds[leases->count++] = fd;
	}
	if (leases->count == count)
		return leases;
	error_set(err, ERROR_TRY_AGAIN,
		  "need %zu free ports from %d up on 127.0.0.1, found %zu",
		  count, first, leases->count);
fail:
	ports_return(leases);
	return NULL;
}

void ports_return(struct port_leases *leases)
{
	size_t i;

	if (!leases)
		return;
	for (i = 0; i < leases->count; i++)
		close(leases->fds[i]);
	free(leases);
}
