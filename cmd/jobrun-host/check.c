/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether this host reaches its peers at their ports, so that a missing
 * firewall rule shows before hours of waiting for a rendezvous; and how fast it
 * sends to the next one, if there is a floor for that. */
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
#include "core/base/clock.h"
#include "core/base/units.h"

#define CHECK_MS 5000
/* How much longer it may take to send. */
#define SEND_MS 10000
/* What is sent: half a second at the floor, within limits. */
#define SEND_MIN (UINT64_C(4) << 20)
#define SEND_MAX (UINT64_C(256) << 20)
#define BLOCK (256 << 10)

struct host_check;

struct probe {
	struct host_check *check;
	char *address;
	uint32_t port;
	bool sends;
	int fd; /* -1: not in progress */
	struct loop_event *event;
	uint64_t sent;
	int64_t since_us; /* the peer has been reading since then; 0: not yet */
	bool slow;
	char *why; /* NULL: reached */
};

/* A check, which is freed after its one answer. */
struct host_check {
	struct agent *agent;
	uint64_t floor; /* bytes a second, or 0 */
	uint64_t amount;
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
		wire_put_u32(&out, check->probes[i].slow);
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

static void end_or_answer(struct probe *probe, const char *why)
{
	struct host_check *check = probe->check;

	probe_end(probe, why);
	if (!check->waiting)
		answer(check);
}

/* ---- sending ---- */

/* Ends a probe that has sent all, or has run out of time: with the rate, if that
 * is too low. */
static void judge_rate(struct probe *probe)
{
	double seconds = (double)(time_monotonic_us() - probe->since_us) / 1e6;
	double rate = (double)probe->sent / (seconds > 1e-6 ? seconds : 1e-6);
	char text[32];

	probe->slow = rate < (double)probe->check->floor;
	size_format((uint64_t)rate, text, sizeof(text));
	probe_end(probe, probe->slow ? text : NULL);
}

/* Waits for other events at the connection. */
static void listen_for(struct probe *probe, uint32_t events, loop_call *call)
{
	struct loop *loop = probe->check->agent->loop;
	struct error err;

	loop_remove(loop, probe->event);
	probe->event = loop_add_fd(loop, probe->fd, events, call, probe, &err);
	if (!probe->event)
		end_or_answer(probe, err.text);
}

/* The peer closes the connection when it has read everything. */
static void on_all_read(void *arg, uint32_t events)
{
	struct probe *probe = arg;
	struct host_check *check = probe->check;

	(void)events;
	judge_rate(probe);
	if (!check->waiting)
		answer(check);
}

static void send_more(void *arg, uint32_t events)
{
	static const char zeros[BLOCK];
	struct probe *probe = arg;
	uint64_t left = probe->check->amount - probe->sent;
	ssize_t n = send(probe->fd, zeros, left < BLOCK ? (size_t)left : BLOCK,
			 MSG_NOSIGNAL);

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		end_or_answer(probe, strerror(errno));
		return;
	}
	probe->sent += (uint64_t)n;
	if (probe->sent < probe->check->amount)
		return;
	shutdown(probe->fd, SHUT_WR);
	listen_for(probe, EPOLLIN, on_all_read);
}

/* Its first byte says that the peer reads. */
static void on_greeting(void *arg, uint32_t events)
{
	struct probe *probe = arg;
	char byte;

	(void)events;
	if (read(probe->fd, &byte, 1) != 1) {
		end_or_answer(probe, "it was closed");
		return;
	}
	probe->since_us = time_monotonic_us();
	listen_for(probe, EPOLLOUT, send_more);
}

static void on_connected(void *arg, uint32_t events)
{
	struct probe *probe = arg;
	int why = 0;
	socklen_t len = sizeof(why);

	(void)events;
	if (getsockopt(probe->fd, SOL_SOCKET, SO_ERROR, &why, &len) < 0)
		why = errno;
	if (!why && probe->sends)
		listen_for(probe, EPOLLIN, on_greeting);
	else
		end_or_answer(probe, why ? strerror(why) : NULL);
}

static void out_of_time(void *arg, uint32_t events)
{
	struct host_check *check = arg;
	uint32_t i;

	(void)events;
	check->timer = NULL;
	for (i = 0; i < check->count; i++)
		if (check->probes[i].fd >= 0 && check->probes[i].since_us)
			judge_rate(&check->probes[i]);
		else if (check->probes[i].fd >= 0)
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
	check->floor = wire_get_u64(in);
	check->amount = check->floor / 2;
	if (check->amount < SEND_MIN)
		check->amount = SEND_MIN;
	if (check->amount > SEND_MAX)
		check->amount = SEND_MAX;
	check->count = wire_get_count(in, FRAME_CHECKS_MAX, 12);
	check->probes = mem_alloc(check->count * sizeof(*check->probes));
	for (i = 0; i < check->count; i++) {
		struct probe *probe = &check->probes[i];

		probe->check = check;
		probe->fd = -1;
		probe->address = wire_get_string(in);
		probe->port = wire_get_u32(in);
		probe->sends = wire_get_u32(in) != 0;
	}
	if (!wire_is_done(in)) {
		release(check);
		return error_set(err, ERROR_FAILED, "it is invalid");
	}
	if (check->floor && prepare_receive(agent, err) < 0) {
		release(check);
		return -1;
	}
	check->timer = loop_add_timer(agent->loop,
				      CHECK_MS + (check->floor ? SEND_MS : 0),
				      out_of_time, check);
	for (i = 0; i < check->count; i++)
		probe_start(&check->probes[i]);
	if (!check->waiting)
		answer(check);
	return 0;
}
