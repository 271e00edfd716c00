/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether this host reaches its peers at their ports, so that a missing
 * firewall rule shows before hours of waiting for a rendezvous. */
#include "cmd/jobrun-host/agent.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/alloc.h"

#define CHECK_MS 5000

struct host_check;

struct probe {
	struct host_check *check;
	char *address;
	uint32_t port;
	int fd; /* -1: not in progress */
	struct loop_event *event;
	char *why; /* NULL: reached */
};

/* A check, which is freed after its one answer. */
struct host_check {
	struct agent *agent;
	struct probe *probes;
	uint32_t count;
	uint32_t waiting;
	struct loop_event *timer;
};

static void release(struct host_check *check)
{
	uint32_t i;

	for (i = 0; i < check->count; i++) {
		free(check->probes[i].why);
		free(check->probes[i].address);
	}
	free(check->probes);
	free(check);
}

static void answer(struct host_check *check)
{
	struct wire_out out = { 0 };
	uint32_t i, count = 0;

	for (i = 0; i < check->count; i++)
		count += check->probes[i].why != NULL;
	wire_begin(&out, FRAME_CHECKED);
	wire_put_u32(&out, count);
	for (i = 0; i < check->count; i++) {
		if (!check->probes[i].why)
			continue;
		wire_put_u32(&out, i);
		wire_put_text(&out, check->probes[i].why);
	}
	wire_end(&out);
	loop_remove(check->agent->loop, check->timer);
	agent_send(check->agent, &out);
	wire_out_done(&out);
	release(check);
}

static void probe_end(struct probe *probe, const char *why)
{
	if (why)
		probe->why = mem_strdup(why);
	if (probe->fd < 0)
		return;
	loop_remove(probe->check->agent->loop, probe->event);
	close(probe->fd);
	probe->fd = -1;
	probe->check->waiting--;
}

static void on_connected(void *arg, uint32_t events)
{
	struct probe *probe = arg;
	struct host_check *check = probe->check;
	int why = 0;
	socklen_t len = sizeof(why);

	(void)events;
	if (getsockopt(probe->fd, SOL_SOCKET, SO_ERROR, &why, &len) < 0)
		why = errno;
	probe_end(probe, why ? strerror(why) : NULL);
	if (!check->waiting)
		answer(check);
}

static void out_of_time(void *arg, uint32_t events)
{
	struct host_check *check = arg;
	uint32_t i;

	(void)events;
	check->timer = NULL;
	for (i = 0; i < check->count; i++)
		if (check->probes[i].fd >= 0)
			probe_end(&check->probes[i], "no answer");
	answer(check);
}

static void probe_start(struct probe *probe)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	char port[16];
	struct error err;
	int ret;

	snprintf(port, sizeof(port), "%u", probe->port);
	ret = getaddrinfo(probe->address, port, &hints, &found);
	if (ret) {
		probe_end(probe, gai_strerror(ret));
		return;
	}
	probe->fd = socket(found->ai_family,
			   SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (probe->fd < 0) {
		probe_end(probe, strerror(errno));
		goto out;
	}
	probe->check->waiting++;
	if (connect(probe->fd, found->ai_addr, found->ai_addrlen) < 0 &&
	    errno != EINPROGRESS) {
		probe_end(probe, strerror(errno));
		goto out;
	}
	probe->event = loop_add_fd(probe->check->agent->loop, probe->fd,
				   EPOLLOUT, on_connected, probe, &err);
	if (!probe->event)
		probe_end(probe, err.text);
out:
	freeaddrinfo(found);
}

int check_peers(struct agent *agent, struct wire_in *in, struct error *err)
{
	struct host_check *check;
	uint32_t i;

	check = mem_alloc(sizeof(*check));
	check->agent = agent;
	check->count = wire_get_count(in, FRAME_CHECKS_MAX, 8);
	check->probes = mem_alloc(check->count * sizeof(*check->probes));
	for (i = 0; i < check->count; i++) {
		struct probe *probe = &check->probes[i];

		probe->check = check;
		probe->fd = -1;
		probe->address = wire_get_string(in);
		probe->port = wire_get_u32(in);
	}
	if (!wire_is_done(in)) {
		release(check);
		return error_set(err, ERROR_FAILED, "it is invalid");
	}
	check->timer =
		loop_add_timer(agent->loop, CHECK_MS, out_of_time, check);
	for (i = 0; i < check->count; i++)
		probe_start(&check->probes[i]);
	if (!check->waiting)
		answer(check);
	return 0;
}
