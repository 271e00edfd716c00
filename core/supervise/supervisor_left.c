/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that are over except for hosts they left behind: see left_hosts.h. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/supervise/supervisor.h"

int supervisor_left(struct store *store, const struct run_record *run,
		    struct arena *mem, struct left_hosts *out,
		    struct error *err)
{
	char *home = store_run_folder(store, run->job_id, run->origin);
	int ret = left_hosts_read(home, mem, out, err);

	free(home);
	return ret;
}

/* Reports the first host that may still run tasks, or any with `all`. */
static int say_rest(const struct left_hosts *left, bool all, struct error *err)
{
	struct buf line = { 0 };
	int ret = 0;
	size_t i;

	for (i = 0; i < left->count && !line.len; i++)
		if (all || left_host_may_run(&left->items[i]))
			left_host_put(&left->items[i], &line);
	if (line.len) {
		/* The time to wait is over, so a retry does not help. */
		ret = error_set_final(err, ERROR_UNREACHABLE, "%s", line.data);
	}
	buf_done(&line);
	return ret;
}

int supervisor_end_left(struct store *store, const struct run_record *run,
			bool all, int64_t limit_ms, struct error *err)
{
	const struct timespec pause = { .tv_nsec = 50000000 };
	int64_t until_ms = time_monotonic_ms() + limit_ms;
	struct arena *mem = arena_new();
	struct left_hosts left;
	int ret = supervisor_left(store, run, mem, &left, err);

	if (ret == 0 && left.count)
		ret = supervisor_check(store, run, err);
	if (ret == 0 && left.count)
		ret = supervisor_cancel(store, run, false, err);
	while (ret == 0 && left.count && time_monotonic_ms() < until_ms) {
		nanosleep(&pause, NULL);
		ret = supervisor_left(store, run, mem, &left, err);
	}
	if (ret == 0)
		ret = say_rest(&left, all, err);
	arena_free(mem);
	return ret;
}

int supervisor_forget_left(struct store *store, const struct run_record *run,
			   struct error *err)
{
	const struct left_hosts none = { 0 };
	char *home = store_run_folder(store, run->job_id, run->origin);
	/* The supervisor notices that, and ends. */
	int ret = left_hosts_write(home, &none, err);

	free(home);
	return ret;
}
