/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts without a task stand in for those that could not be prepared. */
#include "core/supervise/hosts_internal.h"

#include <string.h>

#include "core/base/clock.h"

/* How long the agents of failed hosts may take to forget the run. */
#define RELEASE_MS 5000

/* The spare one comes to the place of the other, which becomes the last. */
static void move_up(struct strings *list, size_t at, size_t spare)
{
	const char *other;

	if (spare >= list->count)
		return;
	other = list->items[at];
	list->items[at] = list->items[spare];
	memmove(&list->items[spare], &list->items[spare + 1],
		(list->count - spare - 1) * sizeof(*list->items));
	list->items[list->count - 1] = other;
}

static void replace(struct host *host)
{
	struct hosts *all = host->all;
	struct run_hosts *names = &all->deps.spec->hosts;
	struct ssh_target target;
	struct error ignored;
	size_t index = host->index;

	if (ssh_target_parse(names->names.items[all->count], &target,
			     &ignored) < 0)
		return;
	move_up(&names->names, index, all->count);
	move_up(&names->shown, index, all->count);
	host_done(host);
	*host = (struct host){ .target = target };
	host_init(host, all, index);
}

/* Leaves `failed` to those that have a spare host and nothing that may still
 * run, whose end is waited for at their place. */
static void choose(struct hosts *all)
{
	size_t spare = all->deps.spec->hosts.names.count - all->count, i;

	for (i = 0; i < all->count; i++) {
		struct host *host = &all->hosts[i];

		host->failed = host->failed && !host->left && spare;
		spare -= host->failed;
	}
}

/* Has the agents forget the run.  Their answer is waited for, as the end of a
 * connection kills ssh, which may still have the message. */
static void release(struct hosts *all)
{
	int64_t until_ms = time_monotonic_ms() + RELEASE_MS;
	size_t i;

	for (i = 0; i < all->count; i++) {
		struct host *host = &all->hosts[i];

		if (!host->failed || !host_is_there(host))
			continue;
		host_send_simple(host, FRAME_RELEASE);
		connection_flush(host->connection,
				 (int)(until_ms - time_monotonic_ms()));
	}
	for (i = 0; i < all->count; i++) {
		struct host *host = &all->hosts[i];

		if (host->failed && host_is_there(host))
			connection_await_end(
				host->connection,
				(int)(until_ms - time_monotonic_ms()));
	}
}

void hosts_replace_failed(struct hosts *all)
{
	size_t i;

	/* Other trials may be on the spare ones. */
	if (all->deps.spec->topology.trial_id)
		return;
	choose(all);
	release(all);
	for (i = 0; i < all->count; i++)
		if (all->hosts[i].failed)
			replace(&all->hosts[i]);
}
