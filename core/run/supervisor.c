/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor of a run: one thread, one event loop.  It ends when all its
 * tasks have, and it has written down how.
 *
 *	PREPARING  packages are unpacked, `setup` runs
 *	RUNNING    all tasks were started
 *	ending     the first reason to end counts; SIGTERM, grace, SIGKILL
 *	final      nothing of it runs any more
 */
#include "core/run/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/loop.h"
#include "core/base/text.h"
#include "core/data/archive.h"
#include "core/run/log.h"
#include "core/run/ports.h"
#include "core/run/process.h"
#include "core/run/run_lock.h"
#include "core/run/supervisor_internal.h"

/* "The first task that fails ends the others within a second." */
#define FAILURE_GRACE_MS 700
/* How long workers may take to end by themselves after the master did. */
#define SETTLE_MS 1000
#define PIPE_SIZE (256 << 10)
#define CHUNK_SIZE (256 << 10)
#define RETRY_MS 1000
#define RECORD_TRIES 120 /* seconds, at the end, on a disk that is full */
#define BALLAST_SIZE (256 << 10)

enum ending {
	ENDING_NONE,
	ENDING_SUCCESS, /* the master ended well */
	ENDING_FAILURE,
	ENDING_CANCEL, /* asked to, or out of time */
};

struct supervisor;

/* One end of a pipe that a process writes to. */
struct output {
	struct supervisor *owner;
	struct log_writer *log; /* borrowed */
	enum log_stream stream;
	struct loop_event *event;
	int fd; /* -1: closed */
};

struct child {
	pid_t pid; /* 0: not running */
	struct output outputs[2];
	struct log_writer *log;
	struct task_record record;
	bool told; /* was sent SIGTERM by us */
};

struct supervisor {
	struct arena *mem;
	struct store *store;
	struct run_spec spec;
	struct port_leases *ports;
	struct run_record run;
	struct loop *loop;
	struct child *tasks;
	size_t alive;
	struct child setup;
	enum ending ending;
	struct child *culprit; /* whose last words explain a failure */
	char why[400];
	struct loop_event *kill_timer;
	struct loop_event *retry_timer;
	bool dirty; /* the record could not be written yet */
	char *chunk;
	sigset_t signals;
	struct rlimit no_files; /* what tasks get; ours is raised */
	int signal_fd;
	int guard_fd; /* a pidfd */
	struct loop_event *guard_event;
};

static void retry_record(void *arg, uint32_t events);

/* Writes the run's record; on a full disk or a locked store, later. */
static void record_run(struct supervisor *s)
{
	struct error err;

	s->dirty = store_run_put(s->store, &s->run, &err) < 0;
	if (s->dirty) {
		fprintf(stderr, "cannot record the run: %s\n", err.text);
		if (!s->retry_timer)
			s->retry_timer = loop_add_timer(s->loop, RETRY_MS,
							retry_record, s);
	}
	supervisor_publish(s->store, &s->run);
}

static void retry_record(void *arg, uint32_t events)
{
	struct supervisor *s = arg;

	(void)events;
	s->retry_timer = NULL;
	if (s->dirty)
		record_run(s);
}

static void record_task(struct supervisor *s, struct child *task)
{
	struct error err;

	task->record.lost_bytes = task->log ? log_writer_lost(task->log) : 0;
	/* All tasks are written again at the end. */
	if (store_task_put(s->store, &s->run, &task->record, &err) < 0)
		fprintf(stderr, "cannot record a task: %s\n", err.text);
}

static void close_output(struct output *out)
{
	if (out->fd < 0)
		return;
	loop_remove(out->owner->loop, out->event);
	close(out->fd);
	out->event = NULL;
	out->fd = -1;
}

/* Reads what is there, at most `limit` bytes; false at the end of it. */
static bool read_output(struct output *out, size_t limit)
{
	struct supervisor *s = out->owner;

	while (limit) {
		ssize_t n = read(out->fd, s->chunk, CHUNK_SIZE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n <= 0)
			return false;
		log_writer_add(out->log, out->stream, s->chunk, (size_t)n,
			       time_now_ms());
		limit -= (size_t)n < limit ? (size_t)n : limit;
	}
	return true;
}

static void on_output(void *arg, uint32_t events)
{
	struct output *out = arg;

	(void)events;
	/* One chunk at a time: no task keeps the others waiting. */
	if (!read_output(out, 1))
		close_output(out);
}

/* Each task takes five descriptors here.  Returns the limit as it was: for
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

static int open_outputs(struct supervisor *s, struct child *child,
			int writers[2], struct error *err)
{
	int i;

	for (i = 0; i < 2; i++) {
		struct output *out = &child->outputs[i];
		int ends[2];

		if (pipe2(ends, O_CLOEXEC) < 0)
			return error_errno(err, "cannot make a pipe");
		/* Larger where allowed: fewer wake-ups. */
		fcntl(ends[0], F_SETPIPE_SZ, PIPE_SIZE);
		fcntl(ends[0], F_SETFL, O_NONBLOCK);
		writers[i] = ends[1];
		out->owner = s;
		out->log = child->log;
		out->stream = i == 0 ? LOG_STDOUT : LOG_STDERR;
		out->fd = ends[0];
		out->event = loop_add_fd(s->loop, out->fd, EPOLLIN, on_output,
					 out, err);
		if (!out->event)
			return -1;
	}
	return 0;
}

/* Starts a command as one child, its output into the child's log. */
static int start_child(struct supervisor *s, struct child *child,
		       const struct strings *command, size_t ordinal,
		       struct error *err)
{
	struct process_start start = { .directory = s->spec.directory };
	struct environment env = { 0 };
	int writers[2] = { -1, -1 };
	const char **argv = NULL;
	char *path = NULL;
	int ret = -1;

	if (spec_environment(&s->spec, ordinal, true, &env, err) < 0)
		goto out;
	environment_inherit(&env, environ);
	path = process_find(command->items[0], s->spec.directory, env.items,
			    err);
	if (!path || open_outputs(s, child, writers, err) < 0)
		goto out;
	argv = mem_alloc((command->count + 1) * sizeof(*argv));
	memcpy(argv, command->items, command->count * sizeof(*argv));
	start.path = path;
	start.argv = (char *const *)argv;
	start.envp = env.items;
	start.no_files = &s->no_files;
	start.out = writers[0];
	start.err = writers[1];
	child->pid = process_start(&start, err);
	if (child->pid < 0) {
		child->pid = 0;
		goto out;
	}
	ret = 0;
out:
	if (writers[0] >= 0)
		close(writers[0]);
	if (writers[1] >= 0)
		close(writers[1]);
	free(argv);
	free(path);
	environment_done(&env);
	return ret;
}

/* To the whole group of a process: what it started is of it. */
static void signal_child(struct child *child, int number)
{
	if (child->pid <= 0)
		return;
	kill(-child->pid, number);
	/* One that is stopped would not hear it. */
	if (number == SIGTERM)
		kill(-child->pid, SIGCONT);
}

static void kill_all(void *arg, uint32_t events)
{
	struct supervisor *s = arg;
	size_t i;

	(void)events;
	s->kill_timer = NULL;
	signal_child(&s->setup, SIGKILL);
	for (i = 0; i < s->spec.topology.count; i++)
		signal_child(&s->tasks[i], SIGKILL);
}

static void terminate_all(struct supervisor *s, int64_t grace_ms)
{
	size_t i;

	signal_child(&s->setup, SIGTERM);
	for (i = 0; i < s->spec.topology.count; i++) {
		s->tasks[i].told = true;
		signal_child(&s->tasks[i], SIGTERM);
	}
	loop_remove(s->loop, s->kill_timer);
	s->kill_timer = loop_add_timer(s->loop, grace_ms, kill_all, s);
}

static void settled(void *arg, uint32_t events)
{
	struct supervisor *s = arg;

	(void)events;
	if (s->ending == ENDING_SUCCESS && s->alive)
		terminate_all(s, s->spec.grace_s * 1000);
}

static void stop_if_done(struct supervisor *s)
{
	if (!s->alive && !s->setup.pid)
		loop_stop(s->loop);
}

/* The first reason counts, except that a user's wish outranks success. */
static void end(struct supervisor *s, enum ending ending, const char *why)
{
	size_t i;

	if (s->ending != ENDING_NONE &&
	    !(s->ending == ENDING_SUCCESS && ending == ENDING_CANCEL))
		return;
	s->ending = ending;
	snprintf(s->why, sizeof(s->why), "%s", why);
	if (ending == ENDING_SUCCESS) {
		/* Parameter servers never end by themselves. */
		for (i = 0; i < s->spec.topology.count; i++) {
			if (s->spec.topology.tasks[i].type != TASK_PS)
				continue;
			s->tasks[i].told = true;
			signal_child(&s->tasks[i], SIGTERM);
		}
		loop_add_timer(s->loop, SETTLE_MS, settled, s);
	} else if (ending == ENDING_FAILURE) {
		terminate_all(s, s->spec.grace_s * 1000 < FAILURE_GRACE_MS
					 ? s->spec.grace_s * 1000
					 : FAILURE_GRACE_MS);
	} else {
		s->run.state = RUN_CANCELLING;
		s->run.error = s->why;
		terminate_all(s, s->spec.grace_s * 1000);
		record_run(s);
	}
	stop_if_done(s);
}

static void out_of_time(void *arg, uint32_t events)
{
	struct supervisor *s = arg;
	char limit[32], why[160];

	(void)events;
	/* Too late for a job that is done and only has to settle. */
	if (s->ending != ENDING_NONE)
		return;
	duration_format(s->spec.max_running_time_s, limit, sizeof(limit));
	snprintf(why, sizeof(why),
		 "cancelled for exceeding the maximum running time of %s "
		 "(scheduling.maxRunningTime)",
		 limit);
	end(s, ENDING_CANCEL, why);
}

static void task_ended(struct supervisor *s, struct child *task, int status)
{
	char how[64], why[160];
	bool is_master = task == &s->tasks[0];

	task->pid = 0;
	s->alive--;
	process_status_format(status, how, sizeof(how));
	task->record.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	task->record.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
						     : WEXITSTATUS(status);
	task->record.end_time_ms = time_now_ms();
	task->record.state = task->record.exit_code == 0 ? RUN_SUCCEEDED
			     : task->told                ? RUN_CANCELLED
							 : RUN_FAILED;
	/* The store may keep us waiting: the others hear of it first. */
	if (task->record.state == RUN_FAILED && s->ending == ENDING_NONE) {
		s->culprit = task;
		s->run.exit_code = task->record.exit_code;
		snprintf(why, sizeof(why), "%s %d %s", task->record.type,
			 task->record.index, how);
		end(s, ENDING_FAILURE, why);
	} else if (is_master && task->record.exit_code == 0) {
		end(s, ENDING_SUCCESS, "");
	}
	record_task(s, task);
	stop_if_done(s);
}

static void start_tasks(struct supervisor *s)
{
	struct error err;
	size_t i;

	for (i = 0; i < s->spec.topology.count; i++) {
		struct child *task = &s->tasks[i];
		char why[sizeof(err.text) + 64];

		if (start_child(s, task, &s->spec.command, i, &err) < 0) {
			task->record.state = RUN_FAILED;
			record_task(s, task);
			snprintf(why, sizeof(why), "%s %d did not start: %s",
				 task->record.type, task->record.index,
				 err.text);
			end(s, ENDING_FAILURE, why);
			return;
		}
		s->alive++;
		task->record.pid = task->pid;
		task->record.state = RUN_RUNNING;
		task->record.start_time_ms = time_now_ms();
		record_task(s, task);
	}
	s->run.state = RUN_RUNNING;
	s->run.start_time_ms = time_now_ms();
	record_run(s);
	if (s->spec.max_running_time_s)
		loop_add_timer(s->loop, s->spec.max_running_time_s * 1000,
			       out_of_time, s);
}

static void setup_ended(struct supervisor *s, int status)
{
	char how[64], why[160];

	s->setup.pid = 0;
	process_status_format(status, how, sizeof(how));
	if (s->ending != ENDING_NONE) {
		stop_if_done(s);
	} else if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		start_tasks(s);
	} else {
		s->culprit = &s->setup;
		snprintf(why, sizeof(why), "setup %s", how);
		end(s, ENDING_FAILURE, why);
	}
}

/* NULL: an orphan of a task, which fell to us. */
static struct child *find_child(struct supervisor *s, pid_t pid)
{
	size_t i;

	if (pid == s->setup.pid)
		return &s->setup;
	for (i = 0; i < s->spec.topology.count; i++)
		if (s->tasks[i].pid == pid)
			return &s->tasks[i];
	return NULL;
}

static void reap(struct supervisor *s)
{
	struct child *child;
	siginfo_t info;
	int status;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
		    !info.si_pid)
			return;
		child = find_child(s, info.si_pid);
		/* What it left running in its group, whose number is nobody
		 * else's until this is reaped. */
		if (child)
			kill(-info.si_pid, SIGKILL);
		if (waitpid(info.si_pid, &status, WNOHANG) <= 0)
			return;
		if (child == &s->setup)
			setup_ended(s, status);
		else if (child)
			task_ended(s, child, status);
	}
}

static void on_signal(void *arg, uint32_t events)
{
	struct supervisor *s = arg;
	struct signalfd_siginfo info;

	(void)events;
	while (read(s->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			reap(s);
			continue;
		}
		if (info.ssi_signo == SIGHUP)
			continue;
		/* SIGINT, or a second SIGTERM: at once. */
		if (info.ssi_signo == SIGINT || s->ending == ENDING_CANCEL) {
			end(s, ENDING_CANCEL, "cancelled");
			kill_all(s, 0);
		} else {
			end(s, ENDING_CANCEL, "cancelled");
		}
	}
}

static void on_guard(void *arg, uint32_t events)
{
	struct supervisor *s = arg;

	(void)events;
	loop_remove(s->loop, s->guard_event);
	s->guard_event = NULL;
	end(s, ENDING_FAILURE, "the run's guard was killed");
}

static int unpack(struct supervisor *s, struct error *err)
{
	size_t i;

	for (i = 0; i < s->spec.packages.count; i++) {
		char *folder = mem_printf("%s/packages/%zu", s->spec.folder, i);
		int ret = archive_unpack(s->spec.packages.items[i], folder,
					 NULL, err);

		free(folder);
		if (ret < 0)
			return -1;
		/* It may have been cancelled meanwhile. */
		on_signal(s, 0);
		if (s->ending != ENDING_NONE)
			return 0;
	}
	return 0;
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

/* All there is before anything can fail: the end looks at every task. */
static void make_tasks(struct supervisor *s)
{
	const struct topology *all = &s->spec.topology;
	size_t i;

	s->tasks = arena_alloc(s->mem, all->count * sizeof(*s->tasks));
	for (i = 0; i < all->count; i++) {
		struct child *task = &s->tasks[i];

		task->outputs[0].fd = task->outputs[1].fd = -1;
		task->record = (struct task_record){
			.type = task_type_name(all->tasks[i].type),
			.index = all->tasks[i].index,
			.state = RUN_QUEUED,
			.exit_code = -1,
			.host = all->tasks[i].host,
		};
	}
	s->setup.outputs[0].fd = s->setup.outputs[1].fd = -1;
	s->setup.record.type = s->tasks[0].record.type;
	s->setup.record.index = s->tasks[0].record.index;
}

static int open_logs(struct supervisor *s, struct error *err)
{
	size_t i;

	for (i = 0; i < s->spec.topology.count; i++) {
		struct child *task = &s->tasks[i];

		task->log = log_writer_open(s->spec.folder, task->record.type,
					    task->record.index, err);
		if (!task->log)
			return -1;
		record_task(s, task);
	}
	/* The output of setup stands before the first task's. */
	s->setup.log = s->tasks[0].log;
	return 0;
}

/* PREPARING, up to the start of the first process. */
static int prepare(struct supervisor *s, struct error *err)
{
	char *output = spec_output_folder(&s->spec);
	int ret = folder_make(output, err);

	free(output);
	if (ret < 0 || open_logs(s, err) < 0 || unpack(s, err) < 0)
		return -1;
	if (s->ending != ENDING_NONE)
		return 0;
	if (s->spec.setup.count) {
		if (start_child(s, &s->setup, &s->spec.setup, 0, err) < 0)
			return error_prefix(err, "setup did not start");
		return 0;
	}
	start_tasks(s);
	return 0;
}

/* Nobody writes any more: all that is still in the pipes. */
static void drain_outputs(struct child *child)
{
	int i;

	for (i = 0; i < 2; i++) {
		struct output *out = &child->outputs[i];

		if (out->fd >= 0)
			read_output(out, SIZE_MAX);
		close_output(out);
	}
}

/* Nothing is left running when this returns, and all output was read. */
static void finish_processes(struct supervisor *s)
{
	size_t i;

	if (!process_end_children(SUPERVISOR_END_MS))
		fprintf(stderr, "some processes could not be killed\n");
	for (i = 0; i < s->spec.topology.count; i++)
		drain_outputs(&s->tasks[i]);
	drain_outputs(&s->setup);
}

/* The last line that the culprit wrote to its standard error. */
static void add_last_words(struct supervisor *s)
{
	struct buf lines = { 0 };
	struct error ignored;
	size_t used = strlen(s->why);
	char *line, *end_of_line;

	if (!s->culprit ||
	    log_last_lines(s->spec.folder, s->culprit->record.type,
			   s->culprit->record.index, LOG_STDERR, 5, &lines,
			   &ignored) < 0)
		goto out;
	/* The last that is not blank. */
	while (lines.len && strchr(" \t\r\n", lines.data[lines.len - 1]))
		lines.data[--lines.len] = '\0';
	if (!lines.len)
		goto out;
	end_of_line = memrchr(lines.data, '\n', lines.len);
	line = end_of_line ? end_of_line + 1 : lines.data;
	snprintf(s->why + used, sizeof(s->why) - used, ": %.200s", line);
out:
	buf_done(&lines);
}

/* The tasks before the run: who sees its end sees theirs. */
static int record_end(struct supervisor *s, struct error *err)
{
	size_t i;

	for (i = 0; i < s->spec.topology.count; i++)
		if (store_task_put(s->store, &s->run, &s->tasks[i].record,
				   err) < 0)
			return -1;
	return store_run_put(s->store, &s->run, err);
}

/* Returns -1 if the end could not be recorded. */
static int finish(struct supervisor *s)
{
	struct timespec pause = { .tv_sec = 1 };
	struct error err;
	size_t i;
	int tries;

	finish_processes(s);
	drop_ballast(s);
	add_last_words(s);
	s->run.end_time_ms = time_now_ms();
	if (s->ending == ENDING_SUCCESS) {
		s->run.state = RUN_SUCCEEDED;
		s->run.exit_code = 0;
	} else if (s->ending == ENDING_CANCEL) {
		s->run.state = RUN_CANCELLED;
		s->run.error = s->why;
	} else {
		s->run.state = RUN_FAILED;
		s->run.error = s->why;
	}
	for (i = 0; i < s->spec.topology.count; i++) {
		struct child *task = &s->tasks[i];

		if (!run_state_is_final(task->record.state))
			task->record.state = RUN_CANCELLED;
		if (task->log)
			task->record.lost_bytes = log_writer_lost(task->log);
		log_writer_close(task->log);
		task->log = NULL;
	}
	for (tries = 1; record_end(s, &err) < 0; tries++) {
		if (tries == RECORD_TRIES) {
			fprintf(stderr,
				"cannot record the end of the run: "
				"%s\n",
				err.text);
			return -1;
		}
		nanosleep(&pause, NULL);
	}
	supervisor_publish(s->store, &s->run);
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

static int take_over(struct supervisor *s, const char *job_id, int attempt,
		     pid_t guard, struct error *err)
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
	if (ret < 0)
		return -1;
	make_tasks(s);
	s->no_files = raise_file_limit();
	if (lease_ports(s, err) < 0)
		return -1;
	s->loop = loop_new(err);
	if (!s->loop || watch_signals_and_guard(s, guard, err) < 0)
		return -1;
	if (run_lock_set_pid(SUPERVISOR_LOCK_FD, getpid(), err) < 0)
		return -1;
	write_ballast(s);
	s->chunk = mem_alloc(CHUNK_SIZE);
	s->run.state = RUN_PREPARING;
	s->run.exit_code = -1;
	record_run(s);
	return 0;
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
	if (take_over(&s, job_id, attempt, guard, &err) < 0) {
		/* Who started us may be gone: its record is ours. */
		if (s.store)
			supervisor_abandon(s.store, job_id, attempt, err.text,
					   &ignored);
		if (write(SUPERVISOR_REPORT_FD, err.text, strlen(err.text)) < 0)
			fprintf(stderr, "%s\n", err.text);
		goto out;
	}
	if (write(SUPERVISOR_REPORT_FD, &(char){ SUPERVISOR_READY }, 1) < 0)
		fprintf(stderr, "nobody waits for this run to start\n");
	close(SUPERVISOR_REPORT_FD);
	if (prepare(&s, &err) < 0)
		end(&s, ENDING_FAILURE, err.text);
	if ((s.alive || s.setup.pid) && loop_run(s.loop, &err) < 0)
		end(&s, ENDING_FAILURE, err.text);
	ret = finish(&s) < 0;
out:
	loop_free(s.loop);
	if (s.signal_fd >= 0)
		close(s.signal_fd);
	if (s.guard_fd >= 0)
		close(s.guard_fd);
	free(s.chunk);
	ports_return(s.ports);
	store_close(s.store);
	arena_free(s.mem);
	return ret;
}
