/* SPDX-License-Identifier: Apache-2.0 */
#include "core/process/enter.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/process/process.h"

#define ENVIRON_MAX ((size_t)8 << 20)
#define RUN_DIR "JOBRUN_RUN_DIR="

/* Splits the text of /proc/PID/environ, which it keeps; returns new. */
static char **split(char *text, size_t len)
{
	char **out;
	size_t i, n = 0;

	for (i = 0; i < len; i++)
		n += !text[i];
	out = mem_alloc((n + 2) * sizeof(*out));
	for (i = 0, n = 0; i < len; i += strlen(text + i) + 1)
		out[n++] = text + i;
	return out;
}

static int failed(pid_t pid, struct error *err)
{
	if (errno == ENOENT || errno == ESRCH)
		return error_set(err, ERROR_FAILED,
				 "process %ld of the task has ended",
				 (long)pid);
	return error_errno(err, "cannot enter process %ld of the task",
			   (long)pid);
}

/* The kernel may have given the pid to another process. */
static int check_run(pid_t pid, char *const *envp, const char *folder,
		     struct error *err)
{
	size_t len = folder ? strlen(folder) : 0;
	const char *at;

	for (; *envp; envp++) {
		if (!text_starts(*envp, RUN_DIR))
			continue;
		at = *envp + strlen(RUN_DIR);
		if (!len ||
		    (!strncmp(at, folder, len) && (!at[len] || at[len] == '/')))
			return 0;
	}
	return error_set(err, ERROR_FAILED, "process %ld is not of the run",
			 (long)pid);
}

int enter_exec(pid_t pid, const char *folder, char *const *argv,
	       struct error *err)
{
	char path[64], *text, *program = NULL;
	char **envp;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%ld/environ", (long)pid);
	if (access(path, F_OK) < 0)
		return failed(pid, err);
	text = file_read(path, ENVIRON_MAX, &len, err);
	if (!text)
		return -1;
	envp = split(text, len);
	snprintf(path, sizeof(path), "/proc/%ld/cwd", (long)pid);
	if (check_run(pid, envp, folder, err) < 0)
		goto out;
	if (chdir(path) < 0)
		failed(pid, err);
	else
		program = process_find(argv[0], ".", envp, err);
	if (program) {
		process_restore_core();
		signal(SIGPIPE, SIG_DFL);
		execve(program, argv, envp);
		error_errno(err, "cannot run '%s'", argv[0]);
	}
out:
	free(program);
	free(envp);
	free(text);
	return -1;
}

/* Waits for the end of the child, or of those who read our output.  Returns
 * its status as waitpid() does. */
static int attend(pid_t child, int signals)
{
	struct pollfd fds[2] = { { .fd = signals, .events = POLLIN },
				 { .fd = STDOUT_FILENO } };
	struct signalfd_siginfo info;
	int status = 128 << 8;
	pid_t ended;

	while (!(ended = waitpid(child, &status, WNOHANG))) {
		if (poll(fds, 2, -1) < 0) {
			if (errno == EINTR)
				continue;
			break;
		}
		if (fds[0].revents && read(signals, &info, sizeof(info)) < 0)
			break;
		if (fds[1].revents) {
			kill(-child, SIGKILL);
			break;
		}
	}
	if (!ended)
		waitpid(child, &status, 0);
	return status;
}

int enter_attended(pid_t pid, char *const *argv, struct error *err)
{
	sigset_t set, before;
	int signals, status;
	pid_t child;

	if (isatty(STDIN_FILENO))
		return enter_exec(pid, NULL, argv, err);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &before);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	if (signals < 0)
		return error_errno(err, "cannot take signals");
	child = fork();
	if (child < 0) {
		close(signals);
		return error_errno(err, "cannot start a process");
	}
	if (child == 0) {
		setpgid(0, 0);
		sigprocmask(SIG_SETMASK, &before, NULL);
		enter_exec(pid, NULL, argv, err);
		fprintf(stderr, "jobrun: error: %s\n", err->text);
		_exit(126);
	}
	setpgid(child, child);
	status = attend(child, signals);
	close(signals);
	return process_exit_code(status);
}
