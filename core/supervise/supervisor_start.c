/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's side of supervisor.h: starting a supervisor, asking it to end,
 * and noticing that it is gone. */
#include "core/base/clock.h"
#include "core/supervise/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/file_watch.h"
#include "core/base/text.h"
#include "core/process/process.h"
#include "core/process/reserve.h"
#include "core/process/run_lock.h"
#include "core/supervise/heartbeat.h"
#include "core/supervise/supervisor_internal.h"

#define SUPERVISOR_LOG_MAX (1 << 20)

int supervisor_newest(struct store *store, const char *job_id, int attempt,
		      struct arena *mem, struct run_record *out,
		      struct error *err)
{
	struct run_record run;
	int ret = store_run_get(store, job_id, attempt, mem, &run, err);

	if (ret != 0)
		return ret;
	while ((ret = store_run_after(store, &run, mem, &run, err)) == 0)
		;
	if (ret < 0)
		return -1;
	*out = run;
	return 0;
}

/* Returns the folder that all attempts of a run share: that of the first. */
static char *home_folder(struct store *store, const char *job_id, int attempt)
{
	struct arena *mem = arena_new();
	struct run_record run;
	struct error ignored;
	char *folder;

	if (store_run_get(store, job_id, attempt, mem, &run, &ignored) == 0)
		attempt = run.origin;
	folder = store_run_folder(store, job_id, attempt);
	arena_free(mem);
	return folder;
}

static int hold(void *arg, const char *folder, int attempt, struct error *err)
{
	int *lock = arg;

	(void)attempt;
	*lock = run_lock_take(folder, err);
	return *lock < 0 ? -1 : 0;
}

int supervisor_add(struct store *store, struct run_record *run, int *lock,
		   struct error *err)
{
	int ret;

	*lock = -1;
	ret = store_run_add_with(store, run, hold, lock, err);
	if (ret < 0 && *lock >= 0) {
		close(*lock);
		*lock = -1;
	}
	return ret;
}

int supervisor_start(struct store *store, const struct run_spec *spec, int lock,
		     struct error *err)
{
	if (reserve_take(spec->home, err) < 0 || spec_write(spec, err) < 0)
		return -1;
	return supervisor_spawn(store, spec, lock, err);
}

bool supervisor_goes_on(const char *folder)
{
	struct arena *mem = arena_new();
	struct run_spec spec;
	struct error ignored;
	/* Before the specification is written nothing of the run exists
	 * anywhere. */
	bool yes = spec_read(folder, mem, &spec, &ignored) == 0 &&
		   spec_is_elsewhere(&spec);

	arena_free(mem);
	return yes;
}

bool supervisor_keeps_logs(const char *folder)
{
	struct arena *mem = arena_new();
	struct run_spec spec;
	struct error ignored;
	bool yes = spec_read(folder, mem, &spec, &ignored) == 0 && spec.logs.to;

	arena_free(mem);
	return yes;
}

/* Starts a new supervisor, unless there is one, for a run on hosts whose tasks
 * go on though its processes here are gone. */
static int resume(struct store *store, const char *folder, struct error *err)
{
	struct arena *mem = arena_new();
	struct run_spec spec;
	int ret = spec_read(folder, mem, &spec, err);
	int lock;

	if (ret == 0) {
		/* Only a run that starts here leases devices; the folder of
		 * leases is gone after a reboot. */
		spec.devices.folder = NULL;
		lock = run_lock_try(folder, err);
		/* Another process may have been faster. */
		if (lock >= 0) {
			ret = supervisor_spawn(store, &spec, lock, err);
			close(lock);
		}
	}
	arena_free(mem);
	return ret;
}

/* Whether a process ran out of memory: it cannot record that, but writes it to
 * the log that both processes have. */
static bool ran_out_of_memory(const char *folder)
{
	char *path = path_join(folder, "supervisor.log");
	struct error ignored;
	size_t len;
	char *log = file_read(path, SUPERVISOR_LOG_MAX, &len, &ignored);
	bool did = log && strstr(log, "jobrun: out of memory\n");

	free(log);
	free(path);
	return did;
}

static void say_end(const char *folder, pid_t last, char *out, size_t size)
{
	if (last < 0)
		snprintf(out, size,
			 "how the run ended could not be recorded: %s",
			 strerror(-last));
	else
		snprintf(out, size, "the run's supervisor and its guard %s",
			 ran_out_of_memory(folder) ? "ran out of memory"
						   : "were killed");
}

/*
 * Settles a run whose lock is free: it has ended, or its processes were killed.
 * `last` is the last process, 0 if there never was one; then the run is deleted
 * as if nobody had asked for it.
 */
static int settle(struct store *store, const struct run_record *run,
		  const char *folder, pid_t last, struct error *err)
{
	struct arena *mem = arena_new();
	struct run_record is;
	char why[160];
	char *mark;
	/* The end may have been written since our look. */
	int ret = supervisor_newest(store, run->job_id, run->attempt, mem, &is,
				    err);

	if (ret != 0 || run_state_is_final(is.state)) {
		ret = ret < 0 ? -1 : 0;
	} else if (!last && is.state == RUN_QUEUED && is.attempt == is.origin) {
		ret = store_run_delete(store, &is, err);
	} else {
		mark = mem_printf("JOBRUN_RUN_DIR=%s/", folder);
		process_end_marked(mark);
		free(mark);
		say_end(folder, last, why, sizeof(why));
		ret = supervisor_abandon(store, run->job_id, run->attempt, why,
					 err);
	}
	arena_free(mem);
	return ret;
}

bool supervisor_is_of_here(const struct run_record *run)
{
	char host[256];

	if (gethostname(host, sizeof(host)) < 0)
		host[0] = '\0';
	host[sizeof(host) - 1] = '\0';
	return !run->host || !strcmp(run->host, host);
}

/* The run of a machine whose locks we may not see. */
static int check_elsewhere(struct store *store, const struct run_record *run,
			   const char *folder, struct error *err)
{
	struct error ignored;
	char why[400];

	if (run_state_is_final(run->state) ||
	    heartbeat_age_ms(folder) < HEARTBEAT_LOST_MS)
		return 0;
	/* Tasks on hosts go on without that machine. */
	if (supervisor_goes_on(folder)) {
		resume(store, folder, &ignored);
		return 0;
	}
	snprintf(why, sizeof(why),
		 "machine '%s', where it ran, was not heard of for %d minutes",
		 run->host, HEARTBEAT_LOST_MS / 60000);
	return supervisor_abandon(store, run->job_id, run->attempt, why, err);
}

/* A run that is over, but whose processes were killed before its machines were
 * deleted and its logs uploaded. */
static void resume_release(struct store *store, const struct run_record *run,
			   const char *folder)
{
	struct error ignored;

	if (supervisor_is_marked(folder) &&
	    (supervisor_is_of_here(run) || !heartbeat_is_needed(folder)))
		resume(store, folder, &ignored);
}

int supervisor_check(struct store *store, const struct run_record *run,
		     struct error *err)
{
	char *folder;
	int lock = -1;
	int ret;
	pid_t pid;

	folder = store_run_folder(store, run->job_id, run->origin);
	if (run_state_is_final(run->state) && !left_hosts_any(folder)) {
		resume_release(store, run, folder);
		free(folder);
		return 0;
	}
	if (!supervisor_is_of_here(run) && heartbeat_is_needed(folder)) {
		ret = check_elsewhere(store, run, folder, err);
		free(folder);
		return ret;
	}
	ret = run_lock_look(folder, &pid, &lock, err);
	if (ret == 0 && supervisor_goes_on(folder)) {
		if (lock >= 0)
			close(lock);
		ret = resume(store, folder, err);
		free(folder);
		return ret;
	}
	if (ret == 0)
		ret = settle(store, run, folder, pid, err);
	/* The lock kept others from starting the run until now. */
	if (lock >= 0)
		close(lock);
	if (ret == 0 && supervisor_keeps_logs(folder)) {
		struct error ignored;

		/* A supervisor uploads the remaining logs and reports nothing
		 * else. */
		supervisor_mark(folder, true);
		resume(store, folder, &ignored);
	}
	free(folder);
	return ret < 0 ? -1 : 0;
}

static int abandon_trials(struct store *store, const struct run_record *run,
			  struct arena *mem, int64_t now, struct error *err)
{
	struct trial_list trials;

	if (store_trial_list(store, run, mem, &trials, err) < 0)
		return -1;
	for (size_t i = 0; i < trials.count; i++) {
		struct trial_record *trial = &trials.items[i];

		if (run_state_is_final(trial->state))
			continue;
		trial->state = RUN_FAILED;
		trial->end_time_ms = now;
		trial->error = "the run ended in the middle of it";
		if (store_trial_put(store, run, trial, err) < 0)
			return -1;
	}
	return 0;
}

int supervisor_abandon(struct store *store, const char *job_id, int attempt,
		       const char *why, struct error *err)
{
	struct arena *mem = arena_new();
	struct run_record run;
	struct task_list tasks;
	int64_t now = time_now_ms();
	char *home = home_folder(store, job_id, attempt);
	int ret = -1;
	size_t i;

	reserve_drop(home);
	free(home);
	if (supervisor_newest(store, job_id, attempt, mem, &run, err) != 0 ||
	    store_task_list(store, &run, mem, &tasks, err) < 0)
		goto out;
	/* The end may have been written since our look. */
	if (run_state_is_final(run.state)) {
		ret = 0;
		goto out;
	}
	for (i = 0; i < tasks.count; i++) {
		struct task_record *task = &tasks.items[i];

		if (run_state_is_final(task->state))
			continue;
		if (task->state == RUN_QUEUED) {
			task->state = RUN_CANCELLED;
		} else {
			task->state = RUN_FAILED;
			task->signal = SIGKILL;
			task->exit_code = 128 + SIGKILL;
		}
		task->end_time_ms = now;
		if (store_task_put(store, &run, task, err) < 0)
			goto out;
	}
	if (abandon_trials(store, &run, mem, now, err) < 0)
		goto out;
	run.state = RUN_FAILED;
	run.error = why;
	run.end_time_ms = now;
	ret = store_run_put(store, &run, err);
	supervisor_publish(store, &run);
out:
	arena_free(mem);
	return ret;
}

void supervisor_mark(const char *home, bool mark)
{
	char *path = path_join(home, "releasing");
	int fd = -1;

	if (mark)
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	else
		unlink(path);
	if (fd >= 0)
		close(fd);
	free(path);
}

bool supervisor_is_marked(const char *home)
{
	char *path = path_join(home, "releasing");
	bool marked = access(path, F_OK) == 0;

	free(path);
	return marked;
}

bool supervisor_is_unreleased(struct store *store, const struct run_record *run)
{
	char *folder = store_run_folder(store, run->job_id, run->origin);
	bool is =
		run_state_is_final(run->state) && supervisor_is_marked(folder);

	free(folder);
	return is;
}

bool supervisor_releases(struct store *store, const struct run_record *run)
{
	char *folder = store_run_folder(store, run->job_id, run->origin);
	struct error ignored;
	pid_t pid;
	bool does = supervisor_is_marked(folder) &&
		    run_lock_look(folder, &pid, NULL, &ignored) == 1;

	free(folder);
	return does;
}

void supervisor_publish(struct store *store, const struct run_record *run)
{
	char *folder = store_run_folder(store, run->job_id, run->origin);
	char *path = path_join(folder, "state");
	const char *name = run_state_name(run->state);
	const char *note = run->note ? run->note : "";
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	/* Only the change itself matters: on a full disk the file is empty. */
	if (fd >= 0) {
		fd_write(fd, name, strlen(name));
		fd_write(fd, "\n", 1);
		fd_write(fd, note, strlen(note));
		close(fd);
	}
	free(path);
	free(folder);
}

bool supervisor_note(struct store *store, const char *job_id, int attempt,
		     char *out, size_t size)
{
	char *folder = store_run_folder(store, job_id, attempt);
	char *path = path_join(folder, "state");
	struct error ignored;
	size_t len = 0;
	/* The file may be missing, or empty while it is written. */
	char *text = file_read(path, 4096, &len, &ignored);
	const char *note = text ? strchr(text, '\n') : NULL;
	bool prepares = !text || !len || text_starts(text, "PREPARING") ||
			text_starts(text, "QUEUED");

	snprintf(out, size, "%s", note ? note + 1 : "");
	free(text);
	free(path);
	free(folder);
	return prepares;
}

int supervisor_watch(struct store *store, const char *job_id, int attempt,
		     int *fd, struct error *err)
{
	char *folder = home_folder(store, job_id, attempt);
	int watch = file_watch_new();
	int ret = 0;

	/* Only the folder itself is watched, not the logs below it. */
	if (watch < 0 || file_watch_add(watch, folder, IN_CLOSE_WRITE) < 0) {
		ret = error_errno(err, "cannot watch '%s'", folder);
		if (watch >= 0)
			close(watch);
	} else {
		*fd = watch;
	}
	free(folder);
	return ret;
}
