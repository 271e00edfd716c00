/* SPDX-License-Identifier: Apache-2.0 */
#include "core/supervise/children.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/data/archive.h"
#include "core/process/process.h"
#include "core/checkpoint/run_saver.h"
#include "core/spec/wrap.h"

/* What pipes that were found full may have: each, and all together. */
#define PIPE_MAX (1 << 20)
#define PIPES_MAX (64 << 20)
#define PIPE_FULL (32 << 10)
#define CHUNK_SIZE ((size_t)1 << 20)
#define SWEEP_MS 1
/* Two pipes, three files of the log, and what leases its port. */
#define FILES_PER_TASK 6
#define FILES_MORE 32

/* One end of a pipe that a process writes to. */
struct child_output {
	struct local_child *child;
	enum log_stream stream;
	struct loop_event *event;
	int fd; /* -1: closed */
	bool is_large;
};

struct local_child {
	struct children *owner;
	size_t ordinal; /* of the task whose log it writes to */
	pid_t pid;      /* 0: not running */
	struct child_output outputs[2];
};

struct children {
	struct backend base;
	struct children_deps deps;
	struct local_child *tasks;
	size_t count;
	struct local_child setup;
	size_t unpacked; /* so many packages */
	bool was_set_up;
	size_t alive; /* those that the reaper watches for us */
	struct loop_event *prepare_timer;
	struct loop_event *finish_timer;
	int64_t give_up_ms;     /* finishing, until then */
	struct run_saver saver; /* of the checkpoints, if there are any */
	int pipe_size;          /* of those that were found full */
	int slots[3];           /* see slots_open() */
};

static void close_output(struct child_output *out)
{
	if (out->fd < 0)
		return;
	loop_remove(out->child->owner->deps.loop, out->event);
	close(out->fd);
	out->event = NULL;
	out->fd = -1;
}

/* Moves what is there into the log, at most `limit` bytes; false at the end
 * of it. */
static bool take_output(struct child_output *out, size_t limit)
{
	struct children *all = out->child->owner;
	struct log_writer *log = all->deps.logs[out->child->ordinal];

	while (limit) {
		size_t most = limit < CHUNK_SIZE ? limit : CHUNK_SIZE;
		ssize_t n = log_writer_take(log, out->stream, out->fd, most,
					    time_now_ms());

		if (n <= 0)
			return n < 0 && errno == EAGAIN;
		limit -= (size_t)n;
		/* It was full or nearly so: fewer wake-ups with a larger one.
		 * Most tasks say little. */
		if (!out->is_large && n >= PIPE_FULL) {
			out->is_large = true;
			fcntl(out->fd, F_SETPIPE_SZ, all->pipe_size);
		}
	}
	return true;
}

static void on_output(void *arg, uint32_t events)
{
	struct child_output *out = arg;

	(void)events;
	/* One chunk at a time: no task keeps the others waiting. */
	if (!take_output(out, CHUNK_SIZE))
		close_output(out);
}

/* Nobody writes any more: all that is still in the pipes. */
static void drain_outputs(struct local_child *child)
{
	for (size_t i = 0; i < COUNT(child->outputs); i++) {
		struct child_output *out = &child->outputs[i];

		if (out->fd >= 0)
			take_output(out, SIZE_MAX);
		close_output(out);
	}
}

static int open_outputs(struct local_child *child, int writers[2],
			struct error *err)
{
	for (int i = 0; i < 2; i++) {
		struct child_output *out = &child->outputs[i];
		int ends[2];

		if (pipe2(ends, O_CLOEXEC) < 0)
			return error_errno(err, "cannot make a pipe");
		fcntl(ends[0], F_SETFL, O_NONBLOCK);
		writers[i] = ends[1];
		out->fd = ends[0];
		out->is_large = false;
		out->event = loop_add_fd(child->owner->deps.loop, out->fd,
					 EPOLLIN, on_output, out, err);
		if (!out->event)
			return -1;
	}
	return 0;
}

/*
 * Descriptors with low numbers, for what the next child gets as its first
 * three: the ends of its pipes lie above those of all others, and
 * process_start() has to copy what is below.  Empty they are /dev/null.
 */
static void slots_open(struct children *all)
{
	for (size_t i = 0; i < COUNT(all->slots); i++)
		all->slots[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
}

/* Takes the descriptors. */
static int slots_fill(struct children *all, const int writers[2],
		      struct error *err)
{
	int ret = 0;

	for (int i = 0; i < 2; i++) {
		if (writers[i] < 0)
			continue;
		if (dup3(writers[i], all->slots[i + 1], O_CLOEXEC) < 0)
			ret = error_errno(err, "cannot pass on a pipe");
		close(writers[i]);
	}
	return ret;
}

static void slots_clear(struct children *all)
{
	dup3(all->slots[0], all->slots[1], O_CLOEXEC);
	dup3(all->slots[0], all->slots[2], O_CLOEXEC);
}

/* Starts a program whose path is known and whose pipes are in the slots. */
static pid_t start_process(struct children *all, const char *path,
			   const struct strings *command, char **envp,
			   struct error *err)
{
	const char **argv = mem_alloc((command->count + 1) * sizeof(*argv));
	struct process_start start = {
		.path = path,
		.argv = (char *const *)argv,
		.envp = envp,
		.directory = all->deps.spec->directory,
		.no_files = all->deps.no_files,
		.in = all->slots[0],
		.out = all->slots[1],
		.err = all->slots[2],
	};
	pid_t pid;

	memcpy(argv, command->items, command->count * sizeof(*argv));
	pid = process_start(&start, err);
	free(argv);
	return pid;
}

/* Starts a command as one child, its output into the log of its task. */
static int start_child(struct local_child *child, const struct strings *plain,
		       reaper_call *ended, struct error *err)
{
	struct children *all = child->owner;
	const struct run_spec *spec = all->deps.spec;
	struct environment env = { 0 };
	int writers[2] = { -1, -1 };
	struct arena *mem = arena_new();
	struct strings command = wrap_conda(spec, plain, mem);
	char *path = NULL;
	pid_t pid = -1;
	int opened;

	if (spec_environment(spec, child->ordinal, true, &env, err) < 0)
		goto out;
	run_saver_environment(&all->saver, &env);
	environment_inherit(&env, environ);
	path = process_find(command.items[0], spec->directory, env.items, err);
	if (!path)
		goto out;
	opened = open_outputs(child, writers, err);
	if (slots_fill(all, writers, err) == 0 && opened == 0)
		pid = start_process(all, path, &command, env.items, err);
	slots_clear(all);
	if (pid < 0)
		goto out;
	child->pid = pid;
	all->alive++;
	reaper_watch(all->deps.reaper, pid, ended, child);
out:
	free(path);
	environment_done(&env);
	arena_free(mem);
	return pid < 0 ? -1 : 0;
}

static void report_prepared(struct children *all, const char *why)
{
	all->base.owner->prepared(all->base.owner_arg, 0, why);
}

static void on_saver_ready(void *arg, const char *why)
{
	report_prepared(arg, why);
}

static void report_finished(void *arg)
{
	struct children *all = arg;

	all->base.owner->finished(all->base.owner_arg);
}

/* All is there that the program needs but for its checkpoint. */
static void prepare_last(struct children *all)
{
	const struct saver_deps deps = {
		.loop = all->deps.loop,
		.reaper = all->deps.reaper,
		.no_files = all->deps.no_files,
	};

	if (!all->deps.spec->checkpoints.is_used) {
		report_prepared(all, NULL);
		return;
	}
	all->saver.ready = on_saver_ready;
	all->saver.ended = report_finished;
	all->saver.arg = all;
	run_saver_start(&all->saver, all->deps.spec, &deps);
}

static void setup_ended(void *arg, int status)
{
	struct local_child *setup = arg;
	struct children *all = setup->owner;
	char how[64], why[96];

	setup->pid = 0;
	all->alive--;
	all->was_set_up = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	process_status_format(status, how, sizeof(how));
	snprintf(why, sizeof(why), "setup %s", how);
	if (all->was_set_up)
		prepare_last(all);
	else
		report_prepared(all, why);
}

static int unpack(const struct run_spec *spec, size_t i, struct error *err)
{
	char *folder = mem_printf("%s/packages/%zu", spec->home, i);
	int ret = archive_unpack(spec->packages.items[i], folder, NULL, err);

	free(folder);
	return ret;
}

/* One package at a time: a signal in between may end it all. */
static void prepare_next(void *arg, uint32_t events)
{
	struct children *all = arg;
	const struct run_spec *spec = all->deps.spec;
	struct error err;

	(void)events;
	all->prepare_timer = NULL;
	if (spec->prepared) {
		prepare_last(all);
		return;
	}
	if (all->unpacked < spec->packages.count) {
		if (unpack(spec, all->unpacked, &err) < 0) {
			report_prepared(all, err.text);
			return;
		}
		all->unpacked++;
		all->prepare_timer =
			loop_add_timer(all->deps.loop, 0, prepare_next, all);
		return;
	}
	if (!spec->setup.count || all->was_set_up) {
		prepare_last(all);
	} else if (start_child(&all->setup, &spec->setup, setup_ended, &err) <
		   0) {
		error_prefix(&err, "setup did not start");
		report_prepared(all, err.text);
	}
}

/* Better at once than with some tasks started, or with their output lost. */
static int check_file_limit(const struct children *all, struct error *err)
{
	size_t need = FILES_PER_TASK * all->count + FILES_MORE;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < need)
		return error_set(err, ERROR_FAILED,
				 "%zu tasks need %zu open files here, and the "
				 "limit is %llu: raise it (ulimit -Hn)",
				 all->count, need,
				 (unsigned long long)limit.rlim_cur);
	return 0;
}

static int children_prepare(struct backend *backend, struct error *err)
{
	struct children *all = (struct children *)backend;
	int ret = check_file_limit(all, err);

	if (ret == 0)
		ret = folder_make(all->deps.spec->output, err);

	if (ret == 0)
		all->prepare_timer =
			loop_add_timer(all->deps.loop, 0, prepare_next, all);
	return ret;
}

static void task_ended(void *arg, int status)
{
	struct local_child *task = arg;
	struct children *all = task->owner;

	task->pid = 0;
	all->alive--;
	if (task->ordinal == 0)
		run_saver_task_ended(&all->saver, status);
	all->base.owner->task_ended(all->base.owner_arg, task->ordinal, status);
}

static void children_start(struct backend *backend)
{
	struct children *all = (struct children *)backend;
	struct error err;

	for (size_t i = 0; i < all->count; i++) {
		struct local_child *task = &all->tasks[i];

		if (start_child(task, &all->deps.spec->command, task_ended,
				&err) < 0) {
			backend->owner->task_not_started(backend->owner_arg, i,
							 err.text);
			return;
		}
		backend->owner->task_started(backend->owner_arg, i, task->pid);
	}
}

/* To the whole group of a process: what it started is of it. */
static void signal_child(const struct local_child *child, int number)
{
	if (!child->pid)
		return;
	kill(-child->pid, number);
	/* One that is stopped would not hear it. */
	if (number == SIGTERM)
		kill(-child->pid, SIGCONT);
}

static void children_signal(struct backend *backend, size_t ordinal, int number)
{
	struct children *all = (struct children *)backend;

	if (ordinal != BACKEND_ALL) {
		signal_child(&all->tasks[ordinal], number);
		return;
	}
	/* Preparing goes no further. */
	if (run_saver_is_preparing(&all->saver)) {
		run_saver_done(&all->saver);
		report_prepared(all, "it was cancelled");
	}
	if (all->prepare_timer) {
		loop_remove(all->deps.loop, all->prepare_timer);
		all->prepare_timer = NULL;
		report_prepared(all, "it was cancelled");
	}
	signal_child(&all->setup, number);
	for (size_t i = 0; i < all->count; i++)
		signal_child(&all->tasks[i], number);
}

/* Kills what is left of this run and may go on to start others; true if
 * there was nothing. */
static bool sweep(struct children *all)
{
	char *mark;
	bool found;
	pid_t saver;

	if (!reaper_run(all->deps.reaper))
		return true;
	saver = saver_pid(all->saver.saver);
	if (reaper_count(all->deps.reaper) == all->alive + (saver != 0)) {
		/* What it has found may have left others to us just now. */
		found = process_kill_children(saver);
		return saver && !found && !all->alive;
	}
	/* There are others' tasks, too. */
	children_signal(&all->base, BACKEND_ALL, SIGKILL);
	mark = mem_printf("JOBRUN_RUN_DIR=%s", all->deps.spec->output);
	found = process_kill_marked(mark);
	free(mark);
	return !found && !all->alive;
}

static void children_hurry(struct backend *backend, int64_t grace_ms)
{
	struct children *all = (struct children *)backend;

	all->base.grace_ms = grace_ms;
	/* Else it is told when what runs is gone. */
	if (all->saver.saver && !all->finish_timer)
		run_saver_end(&all->saver, grace_ms);
}

static void finish_step(void *arg, uint32_t events)
{
	struct children *all = arg;
	bool gone;

	(void)events;
	all->finish_timer = NULL;
	gone = sweep(all);
	if (!gone && time_monotonic_ms() < all->give_up_ms) {
		all->finish_timer = loop_add_timer(all->deps.loop, SWEEP_MS,
						   finish_step, all);
		return;
	}
	if (!gone)
		fprintf(stderr, "some processes could not be killed\n");
	for (size_t i = 0; i < all->count; i++)
		drain_outputs(&all->tasks[i]);
	drain_outputs(&all->setup);
	if (all->saver.saver)
		run_saver_end(&all->saver, all->base.grace_ms);
	else
		report_finished(all);
}

static void children_finish(struct backend *backend)
{
	struct children *all = (struct children *)backend;

	all->give_up_ms = time_monotonic_ms() + PROCESS_END_MS;
	all->finish_timer = loop_add_timer(all->deps.loop, 0, finish_step, all);
}

static void children_free(struct backend *backend)
{
	struct children *all = (struct children *)backend;

	loop_remove(all->deps.loop, all->prepare_timer);
	loop_remove(all->deps.loop, all->finish_timer);
	run_saver_done(&all->saver);
	for (size_t i = 0; i < COUNT(all->slots); i++)
		if (all->slots[i] >= 0)
			close(all->slots[i]);
	free(all->tasks);
	free(all);
}

static void child_init(struct local_child *child, struct children *owner,
		       size_t ordinal)
{
	child->owner = owner;
	child->ordinal = ordinal;
	for (size_t i = 0; i < COUNT(child->outputs); i++)
		child->outputs[i] = (struct child_output){
			.child = child,
			.stream = i == 0 ? LOG_STDOUT : LOG_STDERR,
			.fd = -1,
		};
}

static const struct backend_ops children_ops = {
	.prepare = children_prepare,
	.start = children_start,
	.signal = children_signal,
	.finish = children_finish,
	.hurry = children_hurry,
	.free = children_free,
};

struct backend *children_new(const struct children_deps *deps)
{
	struct children *all = mem_alloc(sizeof(*all));

	all->base.ops = &children_ops;
	all->deps = *deps;
	all->count = deps->spec->topology.count;
	all->tasks = mem_alloc(all->count * sizeof(*all->tasks));
	for (size_t i = 0; i < all->count; i++)
		child_init(&all->tasks[i], all, i);
	child_init(&all->setup, all, 0);
	slots_open(all);
	all->pipe_size = PIPES_MAX / (int)(all->count * 2);
	if (all->pipe_size > PIPE_MAX)
		all->pipe_size = PIPE_MAX;
	return &all->base;
}
