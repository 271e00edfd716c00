/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a supervisor to end its run. */
#include "core/supervise/supervisor.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "core/base/file.h"
#include "core/process/process.h"
#include "core/process/run_lock.h"
#include "core/supervise/heartbeat.h"
#include "core/supervise/supervisor_internal.h"

#define START_TRIES 100 /* 10 ms apart */

/* Continues a stopped supervisor and its guard, as a stopped process handles no
 * other signal.  Returns 1, with `err`, if one was stopped. */
static int wake(pid_t pid, struct error *err)
{
	pid_t parent, ignored;
	bool stopped = process_state(pid, &parent) == 'T';
	bool guarded = parent > 1 && process_state(parent, &ignored) == 'T';

	if (!stopped && !guarded)
		return 0;
	kill(pid, SIGCONT);
	if (guarded)
		kill(parent, SIGCONT);
	error_set(err, ERROR_FAILED,
		  "its supervisor (process %ld) was stopped; continuing it to "
		  "end the run",
		  (long)pid);
	return 1;
}

/* Whether the process holds the lock that has its pid: pids of another
 * namespace, such as a container's, may be those of any process here. */
static bool holds_lock(const char *folder, pid_t pid)
{
	char *path = path_join(folder, STORE_RUN_LOCK);
	char held[64];
	struct stat a, b;
	bool does;

	snprintf(held, sizeof(held), "/proc/%ld/fd/%d", (long)pid,
		 SUPERVISOR_LOCK_FD);
	does = stat(path, &a) == 0 && stat(held, &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
	free(path);
	return does;
}

static int signal_holder(const struct run_record *run, const char *folder,
			 pid_t pid, bool now, struct error *err)
{
	if (!pid)
		return error_set(err, ERROR_TRY_AGAIN, "it is only starting");
	/* The supervisor has ended, and could not record that. */
	if (pid < 0)
		return 0;
	if (!supervisor_is_of_here(run) && !holds_lock(folder, pid))
		return error_set(err, ERROR_FAILED,
				 "it runs on machine '%s', or in a container "
				 "of that name: cancel it there",
				 run->host);
	/* The lock is held, so the pid is that of its holder, or of a process
	 * that was just killed and whose guard is cleaning up. */
	if (kill(pid, now ? SIGINT : SIGTERM) < 0 && errno != ESRCH)
		return error_errno(err, "cannot signal process %ld", (long)pid);
	return wake(pid, err);
}

int supervisor_cancel(struct store *store, const struct run_record *run,
		      bool now, struct error *err)
{
	struct timespec pause = { .tv_nsec = 10000000 };
	char *folder = store_run_folder(store, run->job_id, run->origin);
	int held = 0, tries;
	pid_t pid = 0;

	if (!supervisor_is_of_here(run) && heartbeat_is_needed(folder)) {
		held = heartbeat_ask_end(folder, now, err);
		free(folder);
		return held;
	}
	for (tries = 0; tries < START_TRIES; tries++) {
		held = run_lock_look(folder, &pid, NULL, err);
		if (held <= 0 || pid)
			break;
		nanosleep(&pause, NULL); /* it is only starting */
	}
	if (held > 0)
		held = signal_holder(run, folder, pid, now, err);
	free(folder);
	return held;
}
