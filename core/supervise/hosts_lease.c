/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices of hosts: each agent leases those of its machine for as long as it
 * lives (cmd/jobrun-host/lease.c).  All runs ask machines in the same order,
 * one after the other, so that no two wait for each other.
 */
#include "core/supervise/hosts_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"

static size_t need_of(const struct host *host)
{
	const struct run_spec *spec = host->all->deps.spec;

	return spec->devices.folder
		       ? spec_devices_on(spec, host->index, host->all->count)
		       : 0;
}

static void send_lease(struct host *host)
{
	const struct hosts_deps *deps = &host->all->deps;
	const struct run_spec *spec = deps->spec;
	struct wire_out out = { 0 };
	char *run = mem_printf("%s.%d", spec->job_id, deps->origin);

	wire_begin(&out, FRAME_LEASE);
	wire_put_text(&out, run);
	wire_put_u64(&out, (uint64_t)deps->create_time_ms);
	wire_put_u64(&out, (uint64_t)(int64_t)spec->queue.priority);
	wire_put_u32(&out, spec->devices.share);
	wire_put_u32(&out, spec->devices.strict);
	wire_put_text(&out, spec->devices.type);
	wire_put_text(&out, spec->devices.model);
	wire_put_u32(&out, (uint32_t)need_of(host));
	host_send(host, &out, wire_end(&out));
	free(run);
	host->leasing = true;
}

/* The next one in the order of machines, once all have said which they are. */
static struct host *choose_next(const struct hosts *all)
{
	struct host *out = NULL;
	size_t i;

	for (i = 0; i < all->count; i++) {
		struct host *host = &all->hosts[i];

		if (!host->machine || host->leasing)
			return NULL;
		if (host->stage == HOST_LEASING &&
		    (!out || strcmp(host->machine, out->machine) < 0))
			out = host;
	}
	return out;
}

/* Whether it is the machine of another host, whose devices the run has. */
static const struct host *find_same(const struct host *host)
{
	const struct hosts *all = host->all;
	size_t i;

	for (i = 0; i < all->count; i++) {
		const struct host *other = &all->hosts[i];

		if (other != host && other->ids.count &&
		    !strcmp(other->machine, host->machine))
			return other;
	}
	return NULL;
}

static void ask_next(struct hosts *all)
{
	struct host *next = choose_next(all);
	const struct host *same = next ? find_same(next) : NULL;
	char *why;

	if (next && !same)
		send_lease(next);
	if (!same)
		return;
	why = mem_printf("it is the same machine as '%s', whose GPUs the run "
			 "has: leave one of the two out of jobrun.hosts",
			 same->target.name);
	host_lose(next, why);
	free(why);
}

bool host_must_lease(struct host *host)
{
	if (host->all->stage != HOSTS_REACHING || host->leased ||
	    !need_of(host))
		return false;
	host->stage = HOST_LEASING;
	host->leasing = false;
	ask_next(host->all);
	return true;
}

static void take_waits(struct host *host, const struct frame *frame)
{
	struct wire_in in = frame_fields(frame);
	struct wire_text text = wire_get_text(&in);
	const struct hosts_deps *deps = &host->all->deps;
	char *what = mem_printf("host '%s': %.*s", host->target.name,
				(int)text.len, text.data);

	if (deps->waits)
		deps->waits(deps->arg, what);
	free(what);
}

static void take_ids(struct host *host, const struct frame *frame)
{
	struct arena *mem = host->all->deps.mem;
	struct wire_in in = frame_fields(frame);
	char *vendor = wire_get_string(&in);
	char **ids = wire_get_list(&in);
	size_t i, count = 0;

	while (ids && ids[count])
		count++;
	host->vendor = arena_strdup(mem, vendor ? vendor : "");
	host->ids = (struct strings){ .count = count };
	host->ids.items =
		arena_alloc(mem, (count + 1) * sizeof(*host->ids.items));
	for (i = 0; i < count; i++)
		host->ids.items[i] = arena_strdup(mem, ids[i]);
	wire_list_free(ids);
	free(vendor);
}

void host_take_lease(struct host *host, const struct frame *frame)
{
	struct hosts *all = host->all;
	struct wire_in in = frame_fields(frame);
	char *why;

	if (host->stage != HOST_LEASING)
		return;
	if (frame->type == FRAME_LEASE_WAITS) {
		take_waits(host, frame);
		return;
	}
	host->leasing = false;
	if (all->deps.waits)
		all->deps.waits(all->deps.arg, NULL);
	if (frame->type == FRAME_NOT_LEASED) {
		why = wire_get_string(&in);
		host->failed = true;
		host_lose(host, why ? why : "its answer is invalid");
		free(why);
		return;
	}
	host->leased = true;
	take_ids(host, frame);
	host_go_on(host);
	ask_next(all);
}

void hosts_hold_devices(struct hosts *all)
{
	struct run_spec *spec = all->deps.spec;
	struct strings *ids;
	size_t i, any = 0;

	if (!spec->devices.folder)
		return;
	ids = mem_alloc(all->count * sizeof(*ids));
	for (i = 0; i < all->count; i++) {
		ids[i] = all->hosts[i].ids;
		if (ids[i].count && !any++)
			spec->devices.vendor = all->hosts[i].vendor;
	}
	spec->devices.held = (struct strings){ 0 };
	if (any)
		spec_devices_hold(spec, ids, all->count, all->deps.mem);
	free(ids);
}
