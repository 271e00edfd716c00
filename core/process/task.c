/* SPDX-License-Identifier: Apache-2.0 */
#include "core/process/task.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/process/process.h"

/* The size of pipes that were found full: each, and all together. */
#define PIPE_MAX (1 << 20)
#define PIPES_MAX (64 << 20)
#define PIPE_FULL (32 << 10)
#define TASKS_USUAL 128

static void on_signal(void *arg, uint32_t events)
{
	struct task_parent *parent = arg;
	struct signalfd_siginfo info;

	(void)events;
	while (read(parent->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			reaper_run(parent->reaper);
		parent->heard(parent->arg, (int)info.ssi_signo,
			      info.ssi_code == SI_KERNEL);
	}
}

int task_parent_own(struct task_parent *parent, const sigset_t *signals,
		    void (*heard)(void *arg, int number, bool from_kernel),
		    void *arg, struct error *err)
{
	sigprocmask(SIG_BLOCK, signals, &parent->before);
	/* If SIGCHLD is ignored, the children's statuses are discarded. */
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	parent->heard = heard;
	parent->arg = arg;
	parent->reaper = reaper_new();
	parent->signals = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (parent->signals < 0)
		return error_errno(err, "cannot receive signals");
	parent->loop = loop_new(err);
	return parent->loop && loop_add_fd(parent->loop, parent->signals,
					   EPOLLIN, on_signal, parent, err)
		       ? 0
		       : -1;
}

void task_parent_hear(struct task_parent *parent)
{
	on_signal(parent, 0);
}

/* Unused slots are /dev/null. */
void task_parent_open(struct task_parent *parent, size_t count)
{
	size_t share =
		PIPES_MAX / ((count ? count : TASKS_USUAL) * TASK_STREAMS);

	parent->pipe_size = share < PIPE_MAX ? (int)share : PIPE_MAX;
	for (size_t i = 0; i < COUNT(parent->slots); i++)
		parent->slots[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
}

void task_parent_close(struct task_parent *parent)
{
	for (size_t i = 0; i < COUNT(parent->slots); i++)
		if (parent->slots[i] > 0)
			close(parent->slots[i]);
	if (!parent->signals)
		return;
	if (parent->signals > 0)
		close(parent->signals);
	sigprocmask(SIG_SETMASK, &parent->before, NULL);
	reaper_free(parent->reaper);
	loop_free(parent->loop);
}

void task_init(struct task *task, struct task_parent *parent,
	       const struct task_hooks *hooks, void *arg)
{
	*task = (struct task){ .parent = parent, .hooks = hooks, .arg = arg };
	for (int i = 0; i < TASK_STREAMS; i++)
		task->outputs[i] =
			(struct task_output){ .task = task, .fd = -1 };
}

static void close_output(struct task_output *out)
{
	if (out->fd < 0)
		return;
	loop_remove(out->task->parent->loop, out->event);
	close(out->fd);
	out->event = NULL;
	out->fd = -1;
}

/* Moves one piece; 0: none available, -1: the end. */
static ssize_t take_piece(struct task_output *out)
{
	struct task *task = out->task;
	ssize_t n = task->hooks->take(task->arg, (int)(out - task->outputs),
				      out->fd, PIPE_MAX);

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
	/* The pipe was full or nearly so, and a larger one means fewer
	 * wake-ups.  Most tasks write little. */
	if (!out->is_large && n >= PIPE_FULL) {
		out->is_large = true;
		fcntl(out->fd, F_SETPIPE_SZ, task->parent->pipe_size);
	}
	return n;
}

/* Takes one piece at a time, so that no task delays the others. */
static void on_output(void *arg, uint32_t events)
{
	struct task_output *out = arg;

	(void)events;
	if (take_piece(out) < 0)
		close_output(out);
}

void task_take(struct task *task)
{
	for (int i = 0; i < TASK_STREAMS; i++) {
		struct task_output *out = &task->outputs[i];
		ssize_t taken = 0, n = out->fd < 0 ? 0 : 1;

		/* Limited, as another process may still write without end. */
		while (n > 0 && taken < PIPE_MAX) {
			n = take_piece(out);
			taken += n;
		}
		if (n < 0)
			close_output(out);
	}
}

void task_drain(struct task *task)
{
	for (int i = 0; i < TASK_STREAMS; i++) {
		struct task_output *out = &task->outputs[i];

		while (out->fd >= 0 && take_piece(out) > 0)
			;
		close_output(out);
	}
}

static int open_outputs(struct task *task, int writers[TASK_STREAMS],
			struct error *err)
{
	for (int i = 0; i < TASK_STREAMS; i++) {
		struct task_output *out = &task->outputs[i];
		int ends[2];

		if (pipe2(ends, O_CLOEXEC) < 0)
			return error_errno(err, "cannot create a pipe");
		fcntl(ends[0], F_SETFL, O_NONBLOCK);
		writers[i] = ends[1];
		out->fd = ends[0];
		out->is_large = false;
		out->event = loop_add_fd(task->parent->loop, out->fd, EPOLLIN,
					 on_output, out, err);
		if (!out->event)
			return -1;
	}
	return 0;
}

/* Takes the descriptors. */
static int slots_fill(struct task_parent *parent,
		      const int writers[TASK_STREAMS], struct error *err)
{
	int ret = 0;

	for (int i = 0; i < TASK_STREAMS; i++) {
		if (writers[i] < 0)
			continue;
		if (dup3(writers[i], parent->slots[i + 1], O_CLOEXEC) < 0)
			ret = error_errno(err, "cannot pass on a pipe");
		close(writers[i]);
	}
	return ret;
}

static void slots_clear(struct task_parent *parent)
{
	for (int i = 0; i < TASK_STREAMS; i++)
		dup3(parent->slots[0], parent->slots[i + 1], O_CLOEXEC);
}

static void on_ended(void *arg, int status)
{
	struct task *task = arg;

	task->pid = 0;
	loop_remove(task->parent->loop, task->kill_timer);
	task->kill_timer = NULL;
	task->hooks->ended(task->arg, status);
}

void task_adopt(struct task *task, pid_t pid, bool own_group)
{
	task->pid = pid;
	task->to = own_group ? -pid : pid;
	reaper_watch(task->parent->reaper, pid, on_ended, task);
}

int task_start(struct task *task, char *const *argv, char *const *envp,
	       const char *directory, struct error *err)
{
	struct task_parent *parent = task->parent;
	struct process_start start = {
		.argv = argv,
		.envp = envp,
		.directory = directory,
		.no_files = parent->no_files,
		.in = parent->slots[0],
		.out = parent->slots[1],
		.err = parent->slots[2],
	};
	int writers[TASK_STREAMS] = { -1, -1 };
	char *path = process_find(argv[0] ? argv[0] : "", directory, envp, err);
	pid_t pid = -1;
	int opened;

	if (!path)
		return -1;
	start.path = path;
	opened = open_outputs(task, writers, err);
	if (slots_fill(parent, writers, err) == 0 && opened == 0)
		pid = process_start(&start, err);
	slots_clear(parent);
	free(path);
	if (pid < 0) {
		task_drain(task);
		return -1;
	}
	task_adopt(task, pid, true);
	return 0;
}

void task_signals(sigset_t *set)
{
	static const int others[] = { SIGSEGV, SIGBUS, SIGFPE,  SIGILL,
				      SIGTRAP, SIGSYS, SIGABRT, SIGTSTP,
				      SIGTTIN, SIGTTOU };
	size_t i;

	sigfillset(set);
	for (i = 0; i < COUNT(others); i++)
		sigdelset(set, others[i]);
}

bool task_is_asked_by(int number)
{
	return number == SIGTERM || number == SIGINT || number == SIGQUIT;
}

void task_signal(const struct task *task, int number)
{
	if (!task->pid)
		return;
	kill(task->to, number);
	/* A stopped task would not react to it. */
	if (task_is_asked_by(number))
		kill(task->to, SIGCONT);
}

static void out_of_grace(void *arg, uint32_t events)
{
	struct task *task = arg;

	(void)events;
	task->kill_timer = NULL;
	task_signal(task, SIGKILL);
}

void task_end(struct task *task, int number, int64_t grace_ms)
{
	task_signal(task, number);
	if (task->pid && !task->kill_timer)
		task->kill_timer = loop_add_timer(task->parent->loop, grace_ms,
						  out_of_grace, task);
}
