/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor process of a run: it takes the run over, hears signals and
 * the end of its guard, has the run attempted (attempt.h) by a crew that
 * knows where the tasks run (crew.h), and has all of it recorded (recorder.h).
 */
#include "core/run/supervisor.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/loop.h"
#include "core/base/text.h"
#include "core/run/attempt.h"
#include "core/run/children.h"
#include "core/run/hosts.h"
#include "core/run/log.h"
#include "core/run/ports.h"
#include "core/run/process.h"
#include "core/run/reaper.h"
#include "core/run/recorder.h"
#include "core/run/run_lock.h"
#include "core/run/supervisor_internal.h"

#define BALLAST_SIZE (256 << 10)

struct supervisor {
	/* Of the process. */
	struct arena *mem;
	struct store *store;
	struct loop *loop;
	struct reaper *reaper;
	sigset_t signals;
	struct rlimit no_files; /* what tasks get; ours is raised */
	int signal_fd;
	int guard_fd; /* a pidfd */
	struct loop_event *guard_event;

	/* Of the run. */
	struct run_spec spec;
	struct port_leases *ports;
	struct run_record run;
	struct task_record *tasks;
	struct log_writer **logs;
	struct recorder recorder;
	struct crew *crew;
	struct attempt *attempt;
	char progress[64];
};

static void on_task_changed(void *arg, size_t ordinal)
{
	struct supervisor *s = arg;

	s->tasks[ordinal].lost_bytes = log_writer_lost(s->logs[ordinal]);
	recorder_task(&s->recorder, ordinal);
}

static void on_state_changed(void *arg)
{
	struct supervisor *s = arg;

	s->run.state = attempt_state(s->attempt);
	/* Of one that was taken over it is known already. */
	if (s->run.state == RUN_RUNNING && !s->run.start_time_ms)
		s->run.start_time_ms = time_now_ms();
	if (s->run.state == RUN_CANCELLING)
		s->run.error = attempt_outcome(s->attempt).why;
	recorder_run(&s->recorder);
}

static void on_ended(void *arg)
{
	struct supervisor *s = arg;

	loop_stop(s->loop);
}

static const struct attempt_hooks attempt_hooks = {
	.task_changed = on_task_changed,
	.state_changed = on_state_changed,
	.ended = on_ended,
};

static void on_signal(void *arg, uint32_t events)
{
	struct supervisor *s = arg;
	struct signalfd_siginfo info;

	(void)events;
	while (read(s->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			reaper_run(s->reaper);
		else if (info.ssi_signo != SIGHUP)
			/* SIGINT, or a second SIGTERM: at once. */
			attempt_cancel(s->attempt, "cancelled",
				       info.ssi_signo == SIGINT ||
					       attempt_state(s->attempt) ==
						       RUN_CANCELLING);
	}
}

static void on_guard(void *arg, uint32_t events)
{
	struct supervisor *s = arg;

	(void)events;
	loop_remove(s->loop, s->guard_event);
	s->guard_event = NULL;
	/* What runs on hosts needs none: it goes on without us, too. */
	if (!s->spec.hosts.names.count)
		attempt_fail(s->attempt, "the run's guard was killed");
}

/* Each task takes several descriptors here.  Returns the limit as it was: for
 * the tasks, as select() of theirs may not expect more. */
static struct rlimit raise_file_limit(void)
{
	struct rlimit before = { 0 }, more;

	getrlimit(RLIMIT_NOFILE, &before);
	more = before;
	more.rlim_cur = more.rlim_max;
	setrlimit(RLIMIT_NOFILE, &more);
	return before;
}

/* Room that is given back when the disk is full, for the last words. */
static void write_ballast(struct supervisor *s)
{
	char *path = path_join(s->spec.folder, "ballast");
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0) {
		if (posix_fallocate(fd, 0, BALLAST_SIZE) != 0)
			unlink(path);
		close(fd);
	}
	free(path);
}

static void drop_ballast(struct supervisor *s)
{
	char *path = path_join(s->spec.folder, "ballast");

	unlink(path);
	free(path);
}

static int open_logs(struct supervisor *s, struct error *err)
{
	for (size_t i = 0; i < s->spec.topology.count; i++) {
		const struct task_place *task = &s->spec.topology.tasks[i];

		s->logs[i] = log_writer_open(s->spec.folder,
					     task_type_name(task->type),
					     task->index, err);
		if (!s->logs[i])
			return -1;
	}
	return 0;
}

static void close_logs(struct supervisor *s)
{
	for (size_t i = 0; i < s->spec.topology.count; i++) {
		log_writer_close(s->logs[i]);
		s->logs[i] = NULL;
	}
}

static void on_progress(void *arg, size_t ready, size_t count)
{
	struct supervisor *s = arg;

	snprintf(s->progress, sizeof(s->progress), "%zu/%zu hosts ready",
		 ready, count);
	s->run.note = s->progress;
	if (attempt_state(s->attempt) == RUN_PREPARING)
		supervisor_publish(s->store, &s->run);
}

static struct crew *make_crew(struct supervisor *s, struct error *err)
{
	const struct children_place here = {
		.spec = &s->spec,
		.loop = s->loop,
		.reaper = s->reaper,
		.logs = s->logs,
		.no_files = &s->no_files,
	};
	const struct hosts_place there = {
		.spec = &s->spec,
		.mem = s->mem,
		.loop = s->loop,
		.reaper = s->reaper,
		.logs = s->logs,
		.store = store_folder(s->store),
		.progress = on_progress,
		.arg = s,
	};

	return s->spec.hosts.names.count ? hosts_new(&there, err)
					 : children_new(&here);
}

/* What is left of it, if an earlier process of the run has begun it. */
static int64_t running_limit(const struct supervisor *s)
{
	int64_t limit_ms = s->spec.max_running_time_s * INT64_C(1000);
	int64_t since_ms = s->run.start_time_ms
				   ? time_now_ms() - s->run.start_time_ms
				   : 0;

	if (!limit_ms || since_ms <= 0)
		return limit_ms;
	return since_ms < limit_ms ? limit_ms - since_ms : 1;
}

static int begin(struct supervisor *s, struct error *err)
{
	struct attempt_place place = { .spec = &s->spec, .loop = s->loop };
	bool cancelling = s->run.state == RUN_CANCELLING;
	struct error why = { 0 };
	int ready = open_logs(s, &why);

	s->crew = make_crew(s, err);
	if (!s->crew)
		return -1;
	place.crew = s->crew;
	place.tasks = s->tasks;
	place.max_running_ms = running_limit(s);
	s->attempt = attempt_new(&place, &attempt_hooks, s);
	attempt_begin(s->attempt);
	if (ready < 0)
		attempt_fail(s->attempt, why.text);
	else if (cancelling)
		attempt_cancel(s->attempt, "cancelled", false);
	return 0;
}

/* Returns -1 if the end could not be recorded. */
static int finish(struct supervisor *s)
{
	struct attempt_outcome outcome = attempt_outcome(s->attempt);
	struct error err;

	drop_ballast(s);
	for (size_t i = 0; i < s->spec.topology.count; i++)
		s->tasks[i].lost_bytes = log_writer_lost(s->logs[i]);
	close_logs(s);
	s->run.state = attempt_state(s->attempt);
	s->run.end_time_ms = time_now_ms();
	s->run.exit_code = outcome.exit_code;
	s->run.error = outcome.why;
	if (recorder_end(&s->recorder, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	return 0;
}

static int watch_signals_and_guard(struct supervisor *s, pid_t guard,
				   struct error *err)
{
	s->signal_fd = signalfd(-1, &s->signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signal_fd < 0)
		return error_errno(err, "cannot receive signals");
	if (!loop_add_fd(s->loop, s->signal_fd, EPOLLIN, on_signal, s, err))
		return -1;
	s->guard_fd = (int)syscall(SYS_pidfd_open, guard, 0);
	if (s->guard_fd < 0)
		return error_errno(err, "cannot watch the run's guard");
	/* Its pid is its own only while it is our parent. */
	if (getppid() != guard)
		return error_set(err, ERROR_FAILED,
				 "the run's guard was killed");
	s->guard_event =
		loop_add_fd(s->loop, s->guard_fd, EPOLLIN, on_guard, s, err);
	return s->guard_event ? 0 : -1;
}

/* Chooses the ports and writes them down, for `env` and for followers. */
static int lease_ports(struct supervisor *s, struct error *err)
{
	size_t count = topology_port_count(&s->spec.topology);
	int *ports = arena_alloc(s->mem, count * sizeof(*ports));

	s->ports = ports_lease(SPEC_FIRST_PORT, count, ports, err);
	if (!s->ports)
		return -1;
	topology_set_ports(&s->spec.topology, ports);
	return spec_write(&s->spec, err);
}

/* A run on hosts has no ports here, but a name of its own there. */
static int name_run(struct supervisor *s, struct error *err)
{
	unsigned long long random;

	if (*s->spec.hosts.nonce)
		return 0;
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return error_errno(err, "cannot get a random number");
	s->spec.hosts.nonce = arena_printf(s->mem, "%016llx", random);
	return spec_write(&s->spec, err);
}

static int read_run(struct supervisor *s, const char *job_id, int attempt,
		    struct error *err)
{
	char *folder;
	int ret;

	s->store = store_open(err);
	if (!s->store)
		return -1;
	if (store_run_get(s->store, job_id, attempt, s->mem, &s->run, err) != 0)
		return error_set(err, ERROR_FAILED, "run %s.%d is not recorded",
				 job_id, attempt);
	/* Who looked before we had the lock may have given it up. */
	if (run_state_is_final(s->run.state))
		return error_set(err, ERROR_FAILED,
				 "run %s.%d took too long to start", job_id,
				 attempt);
	folder = store_run_folder(s->store, job_id, attempt);
	ret = spec_read(folder, s->mem, &s->spec, err);
	free(folder);
	return ret;
}

static int take_over(struct supervisor *s, const char *job_id, int attempt,
		     pid_t guard, struct error *err)
{
	size_t count;

	if (read_run(s, job_id, attempt, err) < 0)
		return -1;
	count = s->spec.topology.count;
	s->tasks = arena_alloc(s->mem, count * sizeof(*s->tasks));
	s->logs = arena_alloc(s->mem, count * sizeof(struct log_writer *));
	s->no_files = raise_file_limit();
	if ((s->spec.hosts.names.count ? name_run(s, err)
				       : lease_ports(s, err)) < 0)
		return -1;
	s->reaper = reaper_new();
	s->loop = loop_new(err);
	if (!s->loop || watch_signals_and_guard(s, guard, err) < 0)
		return -1;
	if (run_lock_set_pid(SUPERVISOR_LOCK_FD, getpid(), err) < 0)
		return -1;
	write_ballast(s);
	s->recorder = (struct recorder){ .store = s->store,
					 .loop = s->loop,
					 .run = &s->run,
					 .tasks = s->tasks,
					 .count = count };
	return 0;
}

/* The first record is written before anybody is told that it has begun. */
static void report(struct supervisor *s)
{
	struct error err;

	if (recorder_flush(&s->recorder, &err) < 0)
		fprintf(stderr, "cannot record the run: %s\n", err.text);
	if (write(SUPERVISOR_REPORT_FD, &(char){ SUPERVISOR_READY }, 1) < 0)
		fprintf(stderr, "nobody waits for this run to start\n");
	close(SUPERVISOR_REPORT_FD);
}

int supervisor_run(const char *job_id, int attempt, pid_t guard,
		   const sigset_t *signals)
{
	struct supervisor s = { .mem = arena_new(),
				.signals = *signals,
				.signal_fd = -1,
				.guard_fd = -1 };
	struct error err = { 0 };
	struct error ignored;
	int ret = 1;

	setpgid(0, 0);
	prctl(PR_SET_NAME, "jobrun");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (take_over(&s, job_id, attempt, guard, &err) < 0 ||
	    begin(&s, &err) < 0) {
		/* Who started us may be gone: its record is ours. */
		if (s.store)
			supervisor_abandon(s.store, job_id, attempt, err.text,
					   &ignored);
		if (write(SUPERVISOR_REPORT_FD, err.text, strlen(err.text)) < 0)
			fprintf(stderr, "%s\n", err.text);
		goto out;
	}
	report(&s);
	/* If not even that works, the guard cleans up. */
	if (loop_run(s.loop, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		goto out;
	}
	ret = finish(&s) < 0;
out:
	recorder_done(&s.recorder);
	attempt_free(s.attempt);
	if (s.crew)
		s.crew->ops->free(s.crew);
	loop_free(s.loop);
	reaper_free(s.reaper);
	if (s.signal_fd >= 0)
		close(s.signal_fd);
	if (s.guard_fd >= 0)
		close(s.guard_fd);
	ports_return(s.ports);
	store_close(s.store);
	arena_free(s.mem);
	return ret;
}
