/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/clock.h"
#include "core/task/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/task/launch_internal.h"
#include "core/process/process.h"

/*
 * All signals that can be passed on.  Not those that a fault of our own makes,
 * which would come again and again, nor those that stop: they reach the whole
 * process group, and must stop us too.
 */
static void forwarded_signals(sigset_t *set)
{
	static const int others[] = { SIGSEGV, SIGBUS, SIGFPE,  SIGILL,
				      SIGTRAP, SIGSYS, SIGABRT, SIGTSTP,
				      SIGTTIN, SIGTTOU };
	size_t i;

	sigfillset(set);
	for (i = 0; i < COUNT(others); i++)
		sigdelset(set, others[i]);
}

/* In the child: only async-signal-safe calls. */
static void become(const struct launch_program *program, const sigset_t *mask,
		   pid_t parent, int report)
{
	int why;

	/* If the parent is gone already, that signal never comes. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(127);
	if (program->own_group)
		setpgid(0, 0);
	if (launch_saver_listener(program->saver))
		launch_listener_become(launch_saver_listener(program->saver));
	sigprocmask(SIG_SETMASK, mask, NULL);
	execve(program->path, program->argv, program->envp);
	why = errno;
	if (write(report, &why, sizeof(why)) < 0)
		_exit(127);
	_exit(126);
}

static pid_t start(const struct launch_program *program, const sigset_t *mask,
		   struct error *err)
{
	pid_t parent = getpid();
	int report[2];
	int why = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) < 0)
		return error_errno(err, "cannot run '%s'", program->path);
	pid = fork();
	if (pid == 0)
		become(program, mask, parent, report[1]);
	close(report[1]);
	if (pid < 0) {
		error_errno(err, "cannot run '%s'", program->path);
		close(report[0]);
		return -1;
	}
	/* Closed by the exec, so this waits for it and no longer. */
	do {
		n = read(report[0], &why, sizeof(why));
	} while (n < 0 && errno == EINTR);
	close(report[0]);
	if (n != sizeof(why))
		return pid;
	waitpid(pid, NULL, 0);
	if (why == ENOEXEC)
		return error_set(err, ERROR_FAILED,
				 "'%s' is no program: name its interpreter "
				 "first",
				 program->path);
	errno = why;
	return error_errno(err, "cannot run '%s'", program->path);
}

/* Reaps all that has ended; true once the child is among it. */
static bool reap(const struct launch_program *program, pid_t child, int *status)
{
	bool ended = false;
	pid_t pid;
	int how;

	while ((pid = waitpid(-1, &how, WNOHANG)) > 0) {
		if (program->saver && launch_saver_pid(program->saver) == pid)
			launch_saver_ended(program->saver, how);
		if (pid == child) {
			*status = how;
			ended = true;
		}
	}
	return ended;
}

static bool asks_to_end(int number)
{
	return number == SIGTERM || number == SIGINT || number == SIGQUIT;
}

/* The next signal, but SIGCHLD; 0: none, 1 hour or `until` has passed, or the
 * program has written something. */
static int next_signal(struct launch_listener *listener,
		       const sigset_t *signals, int64_t until, siginfo_t *info)
{
	struct timespec wait = { .tv_sec = 3600 };
	int number;

	if (until) {
		int64_t left = until - time_monotonic_ms();

		left = left > 0 ? left : 0;
		wait.tv_sec = left / 1000;
		wait.tv_nsec = left % 1000 * 1000000;
	}
	if (listener) {
		launch_listener_wait(listener, &wait);
		wait = (struct timespec){ 0 };
	}
	number = sigtimedwait(signals, info, &wait);
	return number <= 0 || number == SIGCHLD ? 0 : number;
}

/* Until the child has ended; returns how often it was asked to. */
static int attend(const struct launch_program *program, pid_t child,
		  const sigset_t *signals, long grace_s, int *status)
{
	/* Made by now: the exec comes after that. */
	pid_t to = program->own_group ? -child : child;
	int64_t until = 0; /* no end is set yet */
	int asked = 0;

	while (!reap(program, child, status)) {
		siginfo_t info;
		int number = next_signal(launch_saver_listener(program->saver),
					 signals, until, &info);

		if (until && time_monotonic_ms() >= until) {
			kill(to, SIGKILL);
			until = 0;
			grace_s = 0;
		}
		if (!number)
			continue;
		/* One that is stopped would not hear it. */
		if (asks_to_end(number)) {
			asked++;
			kill(to, SIGCONT);
		}
		/* The kernel sends what comes from the terminal to all of the
		 * process group. */
		if (info.si_code == SI_KERNEL)
			continue;
		kill(to, number);
		if (asks_to_end(number) && grace_s && !until)
			until = time_monotonic_ms() + grace_s * 1000;
	}
	return asked;
}

/* Until the last checkpoint is kept. */
static void attend_saver(const struct launch_program *program,
			 const sigset_t *signals, long grace_s, int asked,
			 int status)
{
	struct launch_saver *saver = program->saver;
	bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	int64_t until = 0;
	siginfo_t info;
	int none;

	if (launch_saver_listener(saver))
		launch_listener_end(launch_saver_listener(saver));
	/* A saver that has died does not hear it. */
	signal(SIGPIPE, SIG_IGN);
	launch_saver_end(saver, well);
	while (launch_saver_pid(saver)) {
		if (asked && grace_s && !until)
			until = time_monotonic_ms() + grace_s * 1000;
		if (asked > 1 || (until && time_monotonic_ms() >= until))
			launch_saver_kill(saver);
		if (asks_to_end(next_signal(NULL, signals, until, &info)))
			asked++;
		reap(program, -1, &none);
	}
}

int launch_supervise(const struct launch_program *program, long grace_s,
		     int *status, struct error *err)
{
	struct launch_listener *listener =
		launch_saver_listener(program->saver);
	sigset_t signals, before;
	pid_t child = -1;
	int asked;

	signal(SIGPIPE, program->sigpipe);
	forwarded_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, &before);
	/* An ignored SIGCHLD would make the child's status be thrown away. */
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (!listener || launch_listener_open(listener, &signals, err) == 0)
		child = start(program, &before, err);
	if (child < 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		return -1;
	}
	if (listener) {
		launch_listener_started(listener);
		signal(SIGPIPE, SIG_IGN);
	}
	asked = attend(program, child, &signals, grace_s, status);
	process_end_children_but(
		program->saver ? launch_saver_pid(program->saver) : 0);
	if (program->saver)
		attend_saver(program, &signals, grace_s, asked, *status);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return 0;
}

int launch_end_alike(int status)
{
	const struct rlimit no_core = { 0 };
	sigset_t one;
	int number;

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	number = WTERMSIG(status);
	if (getpid() != 1) {
		/* The core, if there is one, is the program's. */
		setrlimit(RLIMIT_CORE, &no_core);
		signal(number, SIG_DFL);
		sigemptyset(&one);
		sigaddset(&one, number);
		sigprocmask(SIG_UNBLOCK, &one, NULL);
		raise(number);
	}
	return 128 + number;
}
