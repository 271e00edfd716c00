/* SPDX-License-Identifier: Apache-2.0 */
#include "core/task/launch.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/process/process.h"
#include "core/process/task.h"
#include "core/task/launch_internal.h"

struct launched {
	const struct launch_program *program;
	long grace_s;
	struct task_parent parent;
	struct task task;
	int status;
	int asked; /* number of requests to end */
	struct loop_event *saver_timer;
};

static int start(struct launched *l, struct error *err)
{
	const struct launch_program *program = l->program;
	struct launch_listener *listener =
		launch_saver_listener(program->saver);
	struct process_start what = { .path = program->path,
				      .argv = program->argv,
				      .envp = program->envp,
				      .alike = &l->parent.before,
				      .own_group = program->own_group };
	pid_t pid;

	if (listener) {
		if (launch_listener_open(listener, l->parent.loop, err) < 0)
			return -1;
		what.out = launch_listener_end_of(listener, 0);
		what.err = launch_listener_end_of(listener, 1);
	}
	pid = process_start(&what, err);
	if (pid < 0)
		return -1;
	task_adopt(&l->task, pid, program->own_group);
	if (listener) {
		launch_listener_started(listener);
		signal(SIGPIPE, SIG_IGN);
	}
	return 0;
}

static void program_ended(void *arg, int status)
{
	struct launched *l = arg;

	l->status = status;
	loop_stop(l->parent.loop);
}

static void saver_ended(void *arg, int status);

static void watch_saver(struct launched *l)
{
	if (l->program->saver && launch_saver_pid(l->program->saver))
		reaper_watch(l->parent.reaper,
			     launch_saver_pid(l->program->saver), saver_ended,
			     l);
	else if (!l->task.pid)
		loop_stop(l->parent.loop);
}

static void saver_ended(void *arg, int status)
{
	struct launched *l = arg;

	launch_saver_ended(l->program->saver, status);
	watch_saver(l);
}

static void kill_saver(void *arg, uint32_t events)
{
	struct launched *l = arg;

	(void)events;
	l->saver_timer = NULL;
	if (launch_saver_pid(l->program->saver))
		launch_saver_kill(l->program->saver);
}

/* Limits the time for the last checkpoint, after the program has ended. */
static void hurry_saver(struct launched *l)
{
	if (l->asked && l->grace_s && !l->saver_timer)
		l->saver_timer = loop_add_timer(
			l->parent.loop, l->grace_s * 1000, kill_saver, l);
	if (l->asked > 1)
		kill_saver(l, 0);
}

static void hear(void *arg, int number, bool from_kernel)
{
	struct launched *l = arg;
	bool asks = task_is_asked_by(number);

	if (number == SIGCHLD)
		return;
	l->asked += asks;
	if (!l->task.pid) {
		hurry_saver(l);
	} else if (from_kernel) {
		/* The kernel sends signals of the terminal to the whole process
		 * group. */
		if (asks)
			task_signal(&l->task, SIGCONT);
	} else if (asks && l->grace_s) {
		task_end(&l->task, number, l->grace_s * 1000);
	} else {
		task_signal(&l->task, number);
	}
}

/* Waits until the last checkpoint is saved. */
static int attend_saver(struct launched *l, struct error *err)
{
	struct launch_saver *saver = l->program->saver;

	if (launch_saver_listener(saver))
		launch_listener_end(launch_saver_listener(saver));
	/* A dead saver does not read it. */
	signal(SIGPIPE, SIG_IGN);
	launch_saver_end(saver,
			 WIFEXITED(l->status) && WEXITSTATUS(l->status) == 0);
	hurry_saver(l);
	return launch_saver_pid(saver) ? loop_run(l->parent.loop, err) : 0;
}

static int attend(struct launched *l, struct error *err)
{
	struct launch_saver *saver = l->program->saver;
	int ret = l->task.pid ? loop_run(l->parent.loop, err) : 0;

	process_end_children_but(saver ? launch_saver_pid(saver) : 0);
	return ret == 0 && saver ? attend_saver(l, err) : ret;
}

int launch_supervise(const struct launch_program *program, long grace_s,
		     int *status, struct error *err)
{
	static const struct task_hooks hooks = { .ended = program_ended };
	struct launched l = { .program = program, .grace_s = grace_s };
	sigset_t signals;
	int ret;

	signal(SIGPIPE, program->sigpipe);
	task_signals(&signals);
	task_init(&l.task, &l.parent, &hooks, &l);
	ret = task_parent_own(&l.parent, &signals, hear, &l, err);
	if (ret == 0)
		ret = start(&l, err);
	if (ret == 0) {
		watch_saver(&l);
		/* The saver may have died before SIGCHLD was awaited. */
		reaper_run(l.parent.reaper);
		ret = attend(&l, err);
	}
	*status = l.status;
	task_parent_close(&l.parent);
	return ret;
}

int launch_end_alike(int status)
{
	sigset_t one;
	int number;

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	number = WTERMSIG(status);
	if (getpid() != 1) {
		/* Any core file should be the program's, not ours. */
		process_without_core();
		signal(number, SIG_DFL);
		sigemptyset(&one);
		sigaddset(&one, number);
		sigprocmask(SIG_UNBLOCK, &one, NULL);
		raise(number);
	}
	return 128 + number;
}
