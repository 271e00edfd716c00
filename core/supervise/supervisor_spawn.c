/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the process that is first the guard of a run, and then has a
 * supervisor, with the descriptors it needs. */
#include "core/supervise/supervisor_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/environment.h"
#include "core/base/file.h"
#include "core/device/lease.h"
#include "core/process/process.h"
#include "core/spec/spec.h"

/* Copies a descriptor away from the low numbers that the new process uses. */
static int copy_up(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 10);
}

/*
 * The supervisor and the tasks inherit our environment, except that a relative
 * JOBRUN_STATE_DIR would mean another folder there.
 */
static void make_environment(struct store *store, struct environment *env)
{
	const char *folder = getenv("JOBRUN_STATE_DIR");

	if (folder && *folder && folder[0] != '/')
		environment_set(env, "JOBRUN_STATE_DIR", store_folder(store));
	environment_inherit(env, environ);
}

/* The descriptors of the new process, besides its standard ones. */
struct handed {
	int lock, report;
	int devices; /* -1: none are taken */
};

static int spawn(struct store *store, const struct run_spec *spec,
		 const struct handed *fds, struct error *err)
{
	char *log = path_join(spec->folder, "supervisor.log");
	char attempt[16];
	char *argv[] = { (char *)"jobrun", (char *)"supervise",
			 (char *)spec->job_id, attempt, NULL };
	posix_spawn_file_actions_t files;
	char program[4096];
	struct environment env = { 0 };
	posix_spawnattr_t attr;
	sigset_t none, all;
	pid_t pid;
	int why;

	snprintf(attempt, sizeof(attempt), "%d", spec->attempt);
	make_environment(store, &env);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log,
					 O_WRONLY | O_CREAT | O_APPEND, 0600);
	posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
	posix_spawn_file_actions_adddup2(&files, fds->lock, SUPERVISOR_LOCK_FD);
	posix_spawn_file_actions_adddup2(&files, fds->report,
					 SUPERVISOR_REPORT_FD);
	if (fds->devices >= 0)
		posix_spawn_file_actions_adddup2(&files, fds->devices,
						 SUPERVISOR_DEVICES_FD);
	else
		posix_spawn_file_actions_addclose(&files,
						  SUPERVISOR_DEVICES_FD);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID |
						POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSIGDEF);
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	process_self(program, sizeof(program));
	/* The tasks must get the original limit of core files. */
	process_restore_core();
	why = posix_spawn(&pid, program, &files, &attr, argv, env.items);
	process_without_core();
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	environment_done(&env);
	free(log);
	if (why) {
		errno = why;
		return error_errno(err, "cannot start the run's supervisor");
	}
	return 0;
}

/* Waits for the supervisor, which writes one byte when it has taken over, or
 * else the reason why it can't. */
static int wait_report(int fd, const char *folder, struct error *err)
{
	char text[400], *log;
	size_t len = 0;
	ssize_t n;

	do {
		n = read(fd, text + len, sizeof(text) - 1 - len);
		if (n > 0)
			len += (size_t)n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	text[len] = '\0';
	if (len && text[0] == SUPERVISOR_READY)
		return 0;
	if (len)
		return error_set(err, ERROR_FAILED,
				 "the run's supervisor failed: %s", text);
	log = path_join(folder, "supervisor.log");
	supervisor_last_words(log, text, sizeof(text));
	free(log);
	return error_set(err, ERROR_FAILED,
			 "the run's supervisor ended before it began%s", text);
}

/* Opens the file of leases, which guard and supervisor share and we do not
 * keep. */
static int open_devices(const struct run_spec *spec, int *out,
			struct error *err)
{
	int fd = -1;

	*out = -1;
	if (!spec->devices.folder || !*spec->devices.folder)
		return 0;
	fd = lease_open(spec->devices.folder, err);
	if (fd < 0)
		return -1;
	*out = copy_up(fd);
	close(fd);
	return *out < 0 ? error_errno(err, "cannot start the run's supervisor")
			: 0;
}

static void close_handed(const struct handed *fds)
{
	if (fds->lock >= 0)
		close(fds->lock);
	if (fds->report >= 0)
		close(fds->report);
	if (fds->devices >= 0)
		close(fds->devices);
}

int supervisor_spawn(struct store *store, const struct run_spec *spec, int lock,
		     struct error *err)
{
	struct handed fds = { .devices = -1 };
	int report[2];
	int ret = -1;

	if (pipe2(report, O_CLOEXEC) < 0)
		return error_errno(err, "cannot start the run's supervisor");
	fds.lock = copy_up(lock);
	fds.report = copy_up(report[1]);
	close(report[1]);
	if (fds.lock < 0 || fds.report < 0)
		error_errno(err, "cannot start the run's supervisor");
	else if (open_devices(spec, &fds.devices, err) == 0)
		ret = spawn(store, spec, &fds, err);
	close_handed(&fds);
	if (ret == 0)
		ret = wait_report(report[0], spec->folder, err);
	close(report[0]);
	return ret;
}
