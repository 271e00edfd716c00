/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts that a run has left behind: recorded when the run ends, and ended when
 * they come back (left_hosts.h).
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/supervise/hosts_internal.h"
#include "core/supervise/left_hosts.h"
#include "core/topology/topology.h"

/* How long an agent may take to end its tasks after its lease is over. */
#define LEASE_SLACK_MS 30000
/* How long to wait once all leases are over: only output is left to fetch. */
#define PATIENCE_MS 20000

static const char *tasks_on(const struct host *host, struct arena *mem)
{
	const struct hosts *all = host->all;
	const struct topology *topology = &all->deps.spec->topology;
	struct buf out = { 0 };
	const char *text;
	size_t i;

	for (i = host_task(host, 0); i < all->task_count;
	     i = host_task(host, i + 1))
		buf_printf(&out, "%s%s %d", out.len ? ", " : "",
			   task_type_name(topology->tasks[i].type),
			   topology->tasks[i].index);
	if (topology->trial_id)
		buf_printf(&out, " of trial %s", topology->trial_id);
	text = arena_strdup(mem, buf_text(&out));
	buf_done(&out);
	return text;
}

/* Lists the hosts left behind; those of other backends of the run stay. */
static void list_left(const struct hosts *all, const struct left_hosts *before,
		      struct arena *mem, struct left_hosts *out)
{
	long slot = all->deps.spec->hosts.slot;
	size_t i;

	out->items = arena_alloc(mem, (before->count + all->count) *
					      sizeof(*out->items));
	out->count = 0;
	for (i = 0; i < before->count; i++)
		if (before->items[i].slot != slot)
			out->items[out->count++] = before->items[i];
	for (i = 0; i < all->count; i++) {
		const struct host *host = &all->hosts[i];

		if (!host->left)
			continue;
		out->items[out->count++] = (struct left_host){
			.name = host->target.name,
			.index = i,
			.slot = slot,
			.tasks = tasks_on(host, mem),
			.heard_ms = host->left_heard_ms,
			.expires_ms = host->left_until_ms,
		};
	}
}

static void write_left(const struct hosts *all)
{
	const struct run_spec *spec = all->deps.spec;
	struct arena *mem = arena_new();
	struct left_hosts before, list;
	struct error err;
	int ret = left_hosts_read(spec->home, mem, &before, &err);

	list_left(all, &before, mem, &list);
	if (ret < 0 || left_hosts_write(spec->home, &list, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
	arena_free(mem);
}

void hosts_note_left(struct hosts *all)
{
	int64_t now_ms = time_now_ms(), mono_ms = time_monotonic_ms();
	size_t i;

	for (i = 0; i < all->count; i++) {
		struct host *host = &all->hosts[i];

		host->left = host->may_run;
		if (!host->left)
			continue;
		host->left_heard_ms = now_ms - (mono_ms - host->spoke_ms);
		host->left_until_ms = host->left_heard_ms +
				      all->deps.spec->hosts.lease_s * 1000 +
				      LEASE_SLACK_MS;
	}
	write_left(all);
}

/* ---- reconciling them ---- */

static bool may_wait(const struct hosts *all)
{
	int64_t now_ms = time_now_ms();
	size_t i;

	for (i = 0; i < all->count; i++)
		if (all->hosts[i].left && now_ms < all->hosts[i].left_until_ms)
			return true;
	return time_monotonic_ms() < all->patience_ms;
}

/* Whether somebody else has deleted the list, with the run. */
static bool is_forgotten(const struct hosts *all)
{
	return !left_hosts_any(all->deps.spec->home);
}

/* Stops reconciling once no host is left, or none is worth waiting for. */
void hosts_reconciled(struct hosts *all)
{
	size_t i;

	if (all->stage != HOSTS_RECONCILING)
		return;
	for (i = 0; i < all->count && !is_forgotten(all); i++)
		if (all->hosts[i].left && may_wait(all))
			return;
	all->stage = HOSTS_IDLE;
	loop_stop(all->deps.loop);
}

void host_reconciled(struct host *host)
{
	host->left = host->may_run = false;
	/* Its connection no longer matters. */
	host->lost = true;
	if (!is_forgotten(host->all))
		write_left(host->all);
	hosts_reconciled(host->all);
}

/* Marks the hosts that an earlier process has left behind. */
static void take_over(struct hosts *all)
{
	struct arena *mem = arena_new();
	struct left_hosts list;
	struct error err;
	size_t i;

	if (left_hosts_read(all->deps.spec->home, mem, &list, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
	for (i = 0; i < list.count; i++) {
		struct host *host = &all->hosts[list.items[i].index];

		if (list.items[i].slot != all->deps.spec->hosts.slot ||
		    list.items[i].index >= all->count)
			continue;
		host->left = true;
		host->left_heard_ms = list.items[i].heard_ms;
		host->left_until_ms = list.items[i].expires_ms;
	}
	arena_free(mem);
}

int hosts_reconcile(struct backend *backend, struct error *err)
{
	struct hosts *all = (struct hosts *)backend;
	size_t i;

	take_over(all);
	all->stage = HOSTS_RECONCILING;
	all->patience_ms = time_monotonic_ms() + PATIENCE_MS;
	for (i = 0; i < all->count; i++) {
		struct host *host = &all->hosts[i];

		host->lost = !host->left;
		host->fetched = false;
		host->tries = 0;
		host->begun_ms = 0;
		host->spoke_ms = time_monotonic_ms();
		if (!host->left && host->connection)
			host_send_simple(host, FRAME_RELEASE);
	}
	hosts_tick(all);
	hosts_connect_next(all);
	hosts_reconciled(all);
	if (all->stage != HOSTS_RECONCILING)
		return 0;
	return loop_run(all->deps.loop, err);
}

void hosts_hurry(struct backend *backend)
{
	struct hosts *all = (struct hosts *)backend;
	size_t i;

	if (all->stage != HOSTS_RECONCILING)
		return;
	all->patience_ms = time_monotonic_ms() + PATIENCE_MS;
	for (i = 0; i < all->count; i++) {
		struct host *host = &all->hosts[i];

		loop_remove(all->deps.loop, host->retry);
		host->retry = NULL;
		host->tries = 0;
	}
	hosts_connect_next(all);
	hosts_reconciled(all);
}
