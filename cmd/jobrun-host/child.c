/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of the run: their start, their output into the spool, their end. */
#include "cmd/jobrun-host/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/environment.h"
#include "core/process/process.h"

#define PIPE_SIZE (256 << 10)
#define PIPE_FULL (32 << 10)
#define AFTER_S 20

/* One end of a pipe that a process writes to. */
struct output {
	struct child *child;
	uint32_t stream;
	int fd;
	bool is_large;
	struct loop_event *event;
	/* Bytes that are not in the spool, nor said to be lost. */
	uint64_t lost;
};

/* Says what was lost, as soon as there is room for that. */
static void report_lost(struct output *output)
{
	struct frame_event event = { .task = output->child->task,
				     .stream = output->stream,
				     .time_ms = (uint64_t)time_now_ms(),
				     .value = (int64_t)output->lost };
	struct wire_out out = { 0 };

	frame_put_event(&out, FRAME_LOST, &event);
	if (spool_add(output->child->agent->spool, out.data, out.len))
		output->lost = 0;
	wire_out_done(&out);
}

static void output_close(struct output *output)
{
	if (!output)
		return;
	if (output->lost)
		report_lost(output);
	loop_remove(output->child->agent->loop, output->event);
	close(output->fd);
	output->child->outputs[output->stream] = NULL;
	free(output);
}

/* What nobody will see, as not even the loss of what was before it can be
 * told. */
static ssize_t drop_piece(struct output *output)
{
	char block[4096];
	ssize_t n = read(output->fd, block, sizeof(block));

	output->lost += n > 0 ? (uint64_t)n : 0;
	return n;
}

/* A piece at most; returns as read() does. */
static ssize_t take_piece(struct output *output)
{
	const struct frame_output frame = { .task = output->child->task,
					    .stream = output->stream,
					    .time_ms =
						    (uint64_t)time_now_ms() };
	bool kept;
	ssize_t n;

	if (output->lost)
		report_lost(output);
	if (output->lost)
		return drop_piece(output);
	n = spool_take(output->child->agent->spool, output->fd, &frame, &kept);
	if (n > 0 && !kept)
		output->lost += (uint64_t)n;
	/* It was full or nearly so: fewer wake-ups with a larger one. */
	if (n >= PIPE_FULL && !output->is_large) {
		output->is_large = true;
		fcntl(output->fd, F_SETPIPE_SZ, PIPE_SIZE);
	}
	return n;
}

static bool is_over(ssize_t n)
{
	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

/* All that is there now. */
static void take_all(struct output *output)
{
	ssize_t n;

	do {
		n = take_piece(output);
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (is_over(n))
		output_close(output);
}

static void on_output(void *arg, uint32_t events)
{
	struct output *output = arg;
	struct agent *agent = output->child->agent;

	(void)events;
	if (is_over(take_piece(output)))
		output_close(output);
	if (agent->channel)
		channel_pump(agent->channel);
}

static int open_outputs(struct child *child, int writers[FRAME_STREAMS],
			struct error *err)
{
	int i;

	for (i = 0; i < FRAME_STREAMS; i++) {
		struct output *output;
		int ends[2];

		if (pipe2(ends, O_CLOEXEC) < 0)
			return error_errno(err, "cannot make a pipe");
		writers[i] = ends[1];
		fcntl(ends[0], F_SETFL, O_NONBLOCK);
		output = mem_alloc(sizeof(*output));
		output->child = child;
		output->stream = (uint32_t)i;
		output->fd = ends[0];
		child->outputs[i] = output;
		output->event = loop_add_fd(child->agent->loop, ends[0],
					    EPOLLIN, on_output, output, err);
		if (!output->event)
			return -1;
	}
	return 0;
}

int child_start(struct child *child, char *const *argv, char *const *env,
		const char *directory, struct error *err)
{
	struct process_start start = { .argv = argv, .directory = directory };
	struct environment whole = { 0 };
	int writers[FRAME_STREAMS] = { -1, -1 };
	char *path = NULL;
	int ret = -1;

	environment_inherit(&whole, env);
	environment_inherit(&whole, environ);
	path = process_find(argv[0] ? argv[0] : "", directory, whole.items,
			    err);
	if (!path || open_outputs(child, writers, err) < 0)
		goto out;
	start.path = path;
	start.envp = whole.items;
	start.no_files = &child->agent->no_files;
	start.out = writers[0];
	start.err = writers[1];
	child->pid = process_start(&start, err);
	if (child->pid > 0)
		ret = 0;
	else
		child->pid = 0;
out:
	if (writers[0] >= 0)
		close(writers[0]);
	if (writers[1] >= 0)
		close(writers[1]);
	if (ret < 0)
		child_drain(child);
	free(path);
	environment_done(&whole);
	return ret;
}

void child_signal(struct child *child, int number)
{
	if (child->pid <= 0)
		return;
	/* To the whole group: what it started is of it. */
	kill(-child->pid, number);
	/* One that is stopped would not hear it. */
	if (number == SIGTERM)
		kill(-child->pid, SIGCONT);
}

void child_drain(struct child *child)
{
	int i;

	for (i = 0; i < FRAME_STREAMS; i++) {
		if (child->outputs[i])
			take_all(child->outputs[i]);
		/* Still open: something else may have its other end. */
		output_close(child->outputs[i]);
	}
}

static struct child *find(struct agent *agent, pid_t pid)
{
	size_t i;

	if (agent->setup.pid == pid)
		return &agent->setup;
	for (i = 0; i < agent->task_count; i++)
		if (agent->tasks[i].pid == pid ||
		    agent->tasks[i].after_pid == pid)
			return &agent->tasks[i];
	return NULL;
}

/* Takes away what a task may have left elsewhere.  The run on this host goes
 * on for as long as that takes, within limits. */
static void run_after(struct child *child)
{
	pid_t pid;
	int null;

	if (!child->after)
		return;
	pid = fork();
	if (pid > 0) {
		child->after_pid = pid;
		child->agent->alive++;
	}
	if (pid != 0)
		return;
	null = open("/dev/null", O_RDWR);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	setpgid(0, 0);
	alarm(AFTER_S);
	execvp(child->after[0], child->after);
	_exit(127);
}

static void task_ended(struct agent *agent, struct child *child, int status)
{
	int i;

	child->pid = 0;
	agent->alive--;
	/* What it wrote stands before its end. */
	for (i = 0; i < FRAME_STREAMS; i++)
		if (child->outputs[i])
			take_all(child->outputs[i]);
	agent_report(agent, FRAME_TASK_ENDED, child->task, status, NULL);
	run_after(child);
}

void child_reap(struct agent *agent)
{
	struct child *child;
	siginfo_t info;
	int status;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
		    !info.si_pid)
			break;
		child = find(agent, info.si_pid);
		/* What it left running in its group, whose number is nobody
		 * else's until this is reaped. */
		if (child)
			kill(-info.si_pid, SIGKILL);
		if (waitpid(info.si_pid, &status, WNOHANG) <= 0)
			break;
		if (child && child->after_pid == info.si_pid) {
			child->after_pid = 0;
			agent->alive--;
		} else if (child && child != &agent->setup) {
			task_ended(agent, child, status);
		} else {
			prepare_ended(agent, info.si_pid, status);
		}
	}
	agent_end_if_done(agent);
}
