/* SPDX-License-Identifier: Apache-2.0 */
/* The guard of a run, and how it starts the supervisor. */
#include "core/supervise/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/process/process.h"
#include "core/process/run_lock.h"
#include "core/spec/wrap.h"
#include "core/supervise/heartbeat.h"
#include "core/supervise/supervisor_internal.h"

/* A supervisor that is killed this often is given up. */
#define RESTARTS_MAX 5
#define FULL_BELOW (512 << 10)      /* bytes that are free on a full disk */
#define LOCK_PATH "/proc/self/fd/3" /* SUPERVISOR_LOCK_FD */
#define UNRECORDED "how the run ended could not be recorded"

/* The next signal; 0: others are to hear that the run is alive. */
static int next_signal(const sigset_t *signals, bool beats)
{
	const struct timespec limit = {
		.tv_sec = HEARTBEAT_MS / 1000,
		.tv_nsec = HEARTBEAT_MS % 1000 * 1000000L,
	};
	int number;

	do {
		number = beats ? sigtimedwait(signals, NULL, &limit)
			       : sigwaitinfo(signals, NULL);
	} while (number < 0 && errno == EINTR);
	return number < 0 ? 0 : number;
}

/* Returns the status that the supervisor ended with. */
static int wait_for(pid_t supervisor, struct heartbeat *own,
		    const sigset_t *signals)
{
	bool beats = heartbeat_is_needed(LOCK_PATH);
	int number, status = 0;
	pid_t pid;

	if (beats && (number = heartbeat_beat(own, SUPERVISOR_LOCK_FD)))
		kill(supervisor, number);
	for (;;) {
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			if (pid == supervisor)
				return status;
		number = next_signal(signals, beats);
		if (!number)
			number = heartbeat_beat(own, SUPERVISOR_LOCK_FD);
		if (number && number != SIGCHLD && number != SIGHUP)
			kill(supervisor, number);
	}
}

/* Starts another supervisor if it has something to do; returns in the child,
 * too, as fork() does. */
static pid_t start_another(const char *job_id, int attempt,
			   bool (*has_work)(const char *folder))
{
	struct store *store;
	struct error err;
	char *folder;
	pid_t pid = -1;

	store = store_open(&err);
	if (!store)
		return -1;
	folder = store_run_folder(store, job_id, attempt);
	/* A store must not be shared with a child. */
	store_close(store);
	if (has_work(folder))
		pid = fork();
	free(folder);
	return pid;
}

/* Records in the lock that nobody was killed, for the next one to look. */
static void leave_reason(void)
{
	struct statvfs disk = { 0 };
	struct error err;
	int why = fstatvfs(SUPERVISOR_LOCK_FD, &disk) == 0 &&
				  disk.f_bavail * disk.f_frsize < FULL_BELOW
			  ? ENOSPC
			  : EIO;

	if (run_lock_set_pid(SUPERVISOR_LOCK_FD, -why, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
}

static void record_end(const char *job_id, int attempt, int status)
{
	struct error err;
	struct store *store;
	char how[64], words[160] = "", why[256];

	process_status_format(status, how, sizeof(how));
	/* The supervisor and the guard share standard error. */
	if (WIFEXITED(status))
		supervisor_last_words("/proc/self/fd/2", words, sizeof(words));
	if (WIFEXITED(status) && WEXITSTATUS(status) == SUPERVISOR_UNRECORDED)
		snprintf(why, sizeof(why), UNRECORDED);
	else
		snprintf(why, sizeof(why), "the run's supervisor %s%s", how,
			 words);
	store = store_open(&err);
	if (!store ||
	    supervisor_abandon(store, job_id, attempt, why, &err) < 0) {
		fprintf(stderr, "%s; cannot record it: %s\n", why, err.text);
		leave_reason();
	}
	store_close(store);
}

/* Marks a run that is over except for its logs. */
static bool mark_logs(const char *folder)
{
	if (!supervisor_keeps_logs(folder))
		return false;
	supervisor_mark(folder, true);
	return true;
}

static int become_supervisor(const struct supervisor_start *start)
{
	/* Nobody waits for the report of this supervisor. */
	open("/dev/null", O_WRONLY | O_CLOEXEC);
	return supervisor_run(start, getppid());
}

/* Removes containers that a runtime still lists though their processes are
 * killed. */
static bool drop_containers(const char *folder)
{
	struct arena *mem = arena_new();
	struct run_spec spec;
	struct error ignored;

	if (spec_read(folder, mem, &spec, &ignored) == 0)
		wrap_remove_containers(&spec);
	arena_free(mem);
	return false;
}

/* Waits for the supervisor, then kills leftover processes.  Tasks on other
 * hosts go on, so a new supervisor is started for them. */
static int guard(const struct supervisor_start *start, pid_t supervisor)
{
	const char *job_id = start->job_id;
	int attempt = start->attempt;
	struct heartbeat own = { 0 };
	struct error err;
	int status, tries;

	prctl(PR_SET_NAME, "jobrun-guard");
	close(SUPERVISOR_REPORT_FD);
	for (tries = 0;; tries++) {
		status = wait_for(supervisor, &own, start->signals);
		/* The lock is still held, but names a process that is gone. */
		if (run_lock_set_pid(SUPERVISOR_LOCK_FD, getpid(), &err) < 0)
			fprintf(stderr, "%s\n", err.text);
		process_end_children();
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			return 0;
		/* What runs on hosts is another machine's to follow now. */
		if (heartbeat_is_needed(LOCK_PATH) &&
		    heartbeat_is_anothers(&own, SUPERVISOR_LOCK_FD))
			return 0;
		if (WIFEXITED(status) || tries == RESTARTS_MAX)
			break;
		supervisor = start_another(job_id, attempt, supervisor_goes_on);
		if (supervisor == 0)
			return become_supervisor(start);
		if (supervisor < 0)
			break;
	}
	start_another(job_id, attempt, drop_containers);
	close(SUPERVISOR_DEVICES_FD);
	record_end(job_id, attempt, status);
	supervisor = start_another(job_id, attempt, mark_logs);
	if (supervisor == 0)
		return become_supervisor(start);
	if (supervisor > 0)
		wait_for(supervisor, &own, start->signals);
	return 1;
}

int supervisor_main(const char *job_id, int attempt,
		    const struct provider *const *providers,
		    const struct object_scheme *const *schemes)
{
	sigset_t signals;
	const struct supervisor_start start = { .job_id = job_id,
						.attempt = attempt,
						.providers = providers,
						.schemes = schemes,
						.signals = &signals };
	pid_t self = getpid();
	struct error err;
	pid_t pid;

	/* The caller's descriptors must not stay open as long as the run. */
	fd_close_from(SUPERVISOR_DEVICES_FD + 1);
	/* These signals are blocked in both; tasks start with none blocked. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	fcntl(SUPERVISOR_LOCK_FD, F_SETFD, FD_CLOEXEC);
	fcntl(SUPERVISOR_REPORT_FD, F_SETFD, FD_CLOEXEC);
	/* The guard also keeps the devices until no task is left. */
	fcntl(SUPERVISOR_DEVICES_FD, F_SETFD, FD_CLOEXEC);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	/* Until the supervisor can be signalled, signals go to us. */
	if (run_lock_set_pid(SUPERVISOR_LOCK_FD, self, &err) < 0)
		fprintf(stderr, "%s\n", err.text);
	pid = fork();
	if (pid == 0)
		return supervisor_run(&start, self);
	if (pid < 0) {
		fprintf(stderr, "cannot fork: %s\n", strerror(errno));
		return 1;
	}
	return guard(&start, pid);
}
