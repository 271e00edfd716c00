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
#include "core/base/units.h"
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

/* Whether the host sends to this door: to the first port of its neighbour. */
static bool sends_to(const struct host *host, const struct door *door)
{
	const struct hosts *all = host->all;
	const struct topology *tasks = &all->deps.spec->topology;

	return (host->index + 1) % all->count == door->host->index &&
	       door->port == tasks->tasks[host_task(door->host, 0)].port;
}

void host_send_check(struct host *host)
{
	uint64_t kib = (uint64_t)host->all->deps.spec->preflight.bandwidth_kib;
	struct wire_out out = { 0 };
	size_t count, i;
	struct door *doors = doors_of(host, &count);

	wire_begin(&out, FRAME_CHECK);
	wire_put_u64(&out, kib << 10);
	wire_put_u32(&out, (uint32_t)count);
	for (i = 0; i < count; i++) {
		wire_put_text(&out, doors[i].host->address);
		wire_put_u32(&out, (uint32_t)doors[i].port);
		wire_put_u32(&out, kib && sends_to(host, &doors[i]));
	}
	host_send(host, &out, wire_end(&out));
	free(doors);
}

/* Describes a failure.  The peer holds the port open, so even a refusal means
 * that something in between blocks it. */
static char *describe(const struct host *host, const struct door *door,
		      bool slow, struct wire_text why, uint32_t more)
{
	const struct run_spec *spec = host->all->deps.spec;
	const char *rule = spec->hosts.rule;
	char others[32] = "", floor[32];

	if (slow) {
		size_format((uint64_t)spec->preflight.bandwidth_kib << 10,
			    floor, sizeof(floor));
		return mem_printf("it sends %.*s a second to '%s', and "
				  "jobrun.preflight.bandwidth is %s",
				  (int)why.len, why.data,
				  door->host->target.name, floor);
	}
	if (more)
		snprintf(others, sizeof(others), ", and %u other port%s", more,
			 more > 1 ? "s" : "");
	return mem_printf("it does not reach '%s' at %s port %d (%.*s)%s: add "
			  "a firewall rule that allows tcp:%d from %s%s%s",
			  door->host->target.name, door->host->address,
			  door->port, (int)why.len, why.data, others,
			  door->port, host->address, rule ? "; try: " : "",
			  rule ? rule : "");
}

/* Reads the failures; false: it is invalid. */
static bool read_checked(struct host *host, const struct frame *frame,
			 const struct door *doors, size_t count)
{
	struct wire_in in = frame_fields(frame);
	uint32_t failed = wire_get_count(&in, FRAME_CHECKS_MAX, 12), i;

	for (i = 0; i < failed && !in.bad; i++) {
		uint32_t at = wire_get_u32(&in);
		bool slow = wire_get_u32(&in);
		struct wire_text why = wire_get_text(&in);

		if (in.bad || at >= count)
			return false;
		host->blocks++;
		host->all->hosts[doors[at].host->index].blocks++;
		if (!host->blocked)
			host->blocked = describe(host, &doors[at], slow, why,
						 failed - 1);
	}
	return wire_is_done(&in);
}

void host_take_checked(struct host *host, const struct frame *frame)
{
	size_t count;
	struct door *doors = doors_of(host, &count);
	bool valid = read_checked(host, frame, doors, count);

	free(doors);
	if (!valid) {
		host_lose(host, "its response is invalid");
		return;
	}
	if (host->blocked && !host->all->blocked)
		host->all->blocked = host;
	host->checked = true;
	hosts_checked(host->all);
}

void hosts_forget_checks(struct hosts *all)
{
	size_t i;

	all->blocked = NULL;
	for (i = 0; i < all->count; i++) {
		free(all->hosts[i].blocked);
		all->hosts[i].blocked = NULL;
		all->hosts[i].blocks = 0;
	}
}

/* Fails the attempt for what the first host has said.  The host with the most
 * failed connections is left out of the next attempt. */
void hosts_report_blocked(struct hosts *all)
{
	struct host *first = all->blocked, *worst = first;
	char *text = mem_strdup(first->blocked);
	size_t i;

	for (i = 0; i < all->count; i++)
		if (all->hosts[i].blocks > worst->blocks)
			worst = &all->hosts[i];
	worst->failed = true;
	hosts_forget_checks(all);
	hosts_failed(all, first, text);
	free(text);
}

/* The host whose clock is compared with: the middle one of all. */
static const struct host *middle_clock(const struct hosts *all)
{
	size_t i, j, before, same;

	for (i = 0; i < all->count; i++) {
		int64_t own = all->hosts[i].clock_ms;

		before = same = 0;
		for (j = 0; j < all->count; j++) {
			before += all->hosts[j].clock_ms < own;
			same += all->hosts[j].clock_ms == own;
		}
		if (before <= (all->count - 1) / 2 &&
		    before + same > (all->count - 1) / 2)
			return &all->hosts[i];
	}
	return &all->hosts[0];
}

/* By how much the host's clock is behind another, at least; less than 0: ahead of
 * it.  A message that was long on its way is no difference. */
static int64_t behind_ms(const struct host *host, const struct host *other)
{
	int64_t most = host->clock_ms - other->clock_ms + other->doubt_ms;
	int64_t least = host->clock_ms - host->doubt_ms - other->clock_ms;

	return least > 0 ? least : most < 0 ? most : 0;
}

bool hosts_clocks_differ(struct hosts *all)
{
	int64_t limit_ms = all->deps.spec->preflight.clock_skew_s * 1000;
	const struct host *other = middle_clock(all);
	size_t i;

	for (i = 0; limit_ms && i < all->count; i++) {
		struct host *host = &all->hosts[i];
		int64_t behind = behind_ms(host, other);
		char *text;

		if (behind <= limit_ms && behind >= -limit_ms)
			continue;
		text = mem_printf("its clock is %lld s %s that of '%s', and "
				  "%lld s are allowed (jobrun.preflight)",
				  llabs(behind) / 1000,
				  behind > 0 ? "behind" : "ahead of",
				  other->target.name,
				  (long long)limit_ms / 1000);
		host->failed = true;
		hosts_failed(all, host, text);
		free(text);
		return true;
	}
	return false;
}
