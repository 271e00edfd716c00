/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that hosts reach each other, at the ports chosen for this run and at
 * those that frameworks fix: otherwise a missing firewall rule would show only
 * after hours of waiting for a rendezvous.  The agents hold the ports open and
 * connect to those of their peers.
 */
#include "core/supervise/hosts_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/topology/contract.h"

/* The port of the first task, that of the rendezvous, and the fixed ones. */
#define PORTS_MAX (CONTRACT_PORTS_MAX + 2)

static size_t fixed_ports(const struct host *host, int ports[PORTS_MAX])
{
	const struct topology *all = &host->all->deps.spec->topology;

	return host->all->count > 1
		       ? contract_ports(all, host_task(host, 0), ports)
		       : 0;
}

static size_t ports_of(const struct host *host, int ports[PORTS_MAX])
{
	const struct topology *all = &host->all->deps.spec->topology;
	size_t count = fixed_ports(host, ports);

	if (all->tasks[host_task(host, 0)].port)
		ports[count++] = all->tasks[host_task(host, 0)].port;
	if (!host->index && all->master_port)
		ports[count++] = all->master_port;
	return count;
}

void host_put_fixed_ports(const struct host *host, struct wire_out *out)
{
	int ports[PORTS_MAX];
	size_t count = fixed_ports(host, ports), i;

	wire_put_u32(out, (uint32_t)count);
	for (i = 0; i < count; i++)
		wire_put_u32(out, (uint32_t)ports[i]);
}

/* Whether `host` checks `other`: each host checks its neighbour in a ring, and
 * the master's host and all others check each other; in small clusters every
 * host checks every other. */
static bool is_peer(const struct host *host, const struct host *other)
{
	size_t n = host->all->count;

	return host != other && (n <= 8 || !host->index || !other->index ||
				 (host->index + 1) % n == other->index);
}

/* A port of a peer. */
struct door {
	const struct host *host;
	int port;
};

/* Returns a new array of all ports that the host is to check, in the order of
 * the request. */
static struct door *doors_of(const struct host *host, size_t *count)
{
	const struct hosts *all = host->all;
	struct door *out = mem_alloc(all->count * PORTS_MAX * sizeof(*out));
	int ports[PORTS_MAX];
	size_t i, j, n;

	*count = 0;
	for (i = 0; i < all->count; i++) {
		const struct host *other = &all->hosts[i];

		n = is_peer(host, other) ? ports_of(other, ports) : 0;
		for (j = 0; j < n; j++)
			out[(*count)++] = (struct door){ other, ports[j] };
	}
	return out;
}

void host_send_check(struct host *host)
{
	struct wire_out out = { 0 };
	size_t count, i;
	struct door *doors = doors_of(host, &count);

	wire_begin(&out, FRAME_CHECK);
	wire_put_u32(&out, (uint32_t)count);
	for (i = 0; i < count; i++) {
		wire_put_text(&out, doors[i].host->address);
		wire_put_u32(&out, (uint32_t)doors[i].port);
	}
	host_send(host, &out, wire_end(&out));
	free(doors);
}

/* Gives up a host.  The peer holds the port open, so even a refusal means that
 * something in between blocks it. */
static void lose(struct host *host, const struct door *door,
		 struct wire_text why, uint32_t more)
{
	const char *rule = host->all->deps.spec->hosts.rule;
	char others[32] = "";
	char *text;

	if (more)
		snprintf(others, sizeof(others), ", and %u other port%s", more,
			 more > 1 ? "s" : "");
	text = mem_printf("it does not reach '%s' at %s port %d (%.*s)%s: add "
			  "a firewall rule that allows tcp:%d from %s%s%s",
			  door->host->target.name, door->host->address,
			  door->port, (int)why.len, why.data, others,
			  door->port, host->address, rule ? "; try: " : "",
			  rule ? rule : "");
	host_lose(host, text);
	free(text);
}

void host_take_checked(struct host *host, const struct frame *frame)
{
	struct wire_in in = frame_fields(frame);
	uint32_t failed = wire_get_count(&in, FRAME_CHECKS_MAX, 8), i;
	struct wire_text why = { "", 0 };
	size_t count;
	struct door *doors = doors_of(host, &count);
	uint32_t first = 0;

	for (i = 0; i < failed; i++) {
		uint32_t at = wire_get_u32(&in);
		struct wire_text text = wire_get_text(&in);

		if (at >= count)
			in.bad = true;
		if (i == 0) {
			first = at;
			why = text;
		}
	}
	if (!wire_is_done(&in)) {
		host_lose(host, "its response is invalid");
	} else if (failed) {
		lose(host, &doors[first], why, failed - 1);
	} else {
		host->checked = true;
		hosts_checked(host->all);
	}
	free(doors);
}
