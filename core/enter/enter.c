/* SPDX-License-Identifier: Apache-2.0 */
#include "core/enter/enter.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/enter/inside.h"
#include "core/enter/port.h"
#include "core/process/process.h"

#define ENVIRON_MAX ((size_t)8 << 20)
#define CONTAINED ",container"
#define PORT ",port="

/* Splits the text of /proc/PID/environ, which it borrows; free only the
 * items. */
static void split(char *text, size_t len, struct environment *out)
{
	size_t i, n = 0;

	for (i = 0; i < len; i++)
		n += !text[i];
	out->items = mem_alloc((n + 2) * sizeof(*out->items));
	out->count = 0;
	for (i = 0; i < len; i += strlen(text + i) + 1)
		out->items[out->count++] = text + i;
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

int enter_environment(pid_t pid, struct environment *out, struct error *err)
{
	struct environment items;
	char path[64], *text;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%ld/environ", (long)pid);
	if (access(path, F_OK) < 0)
		return failed(pid, err);
	text = file_read(path, ENVIRON_MAX, &len, err);
	if (!text)
		return -1;
	split(text, len, &items);
	*out = (struct environment){ 0 };
	environment_inherit(out, items.items);
	free(items.items);
	free(text);
	return 0;
}

/* Whether the folder is the run's or within it. */
static bool is_below(const char *folder, const char *run)
{
	size_t len = strlen(run);
	const char *at = folder;

	for (; (at = strstr(at, run)); at++)
		if ((!at[len] || at[len] == '/') &&
		    (at == folder || (*run != '/' && at[-1] == '/')))
			return true;
	return false;
}

/* The kernel may have given the pid to another process, be it of this run. */
static int check(const struct enter_target *target,
		 const struct environment *env, struct error *err)
{
	const char *folder = environment_get(env, "JOBRUN_RUN_DIR");
	const char *rank = environment_get(env, "RANK");

	if (!folder || (target->run && !is_below(folder, target->run)))
		return error_set(err, ERROR_FAILED,
				 "process %ld is not of the run",
				 (long)target->pid);
	if (target->rank && (!rank || strcmp(rank, target->rank) != 0))
		return error_set(err, ERROR_FAILED,
				 "process %ld is of another task of the run",
				 (long)target->pid);
	return 0;
}

int enter_target_parse(char *text, struct enter_target *out, struct error *err)
{
	char *end;

	*out = (struct enter_target){ .pid = (pid_t)strtol(text, &end, 10) };
	if (text_starts(end, CONTAINED)) {
		out->contained = true;
		end += strlen(CONTAINED);
	}
	if (text_starts(end, PORT)) {
		out->port = strtol(end + strlen(PORT), &end, 10);
		if (out->port <= 0 || out->port > PORT_MAX)
			out->pid = 0;
	}
	if (out->pid <= 0 || (*end && *end != ':'))
		return error_set(err, ERROR_USAGE, "'%s' is not PID[:RANK:RUN]",
				 text);
	if (!*end)
		return 0;
	out->rank = end + 1;
	end = strchr(end + 1, ':');
	if (!end || !end[1])
		return error_set(err, ERROR_USAGE, "'%s' is not PID[:RANK:RUN]",
				 text);
	*end = '\0';
	out->run = end + 1;
	if (!*out->rank)
		out->rank = NULL;
	return 0;
}

void enter_target_format(const struct enter_target *target, struct buf *out)
{
	buf_printf(out, "%ld%s", (long)target->pid,
		   target->contained ? CONTAINED : "");
	if (target->port)
		buf_printf(out, PORT "%ld", target->port);
	if (target->run)
		buf_printf(out, ":%s:%s", target->rank ? target->rank : "",
			   target->run);
}

/* The environment of the task's process, for a command beside it. */
static int take_environment(const struct enter_target *target,
			    struct environment *env, struct error *err)
{
	char mark[64];

	if (enter_environment(target->pid, env, err) < 0 ||
	    check(target, env, err) < 0)
		return -1;
	snprintf(mark, sizeof(mark), "%ld-%lld", (long)getpid(),
		 (long long)time_now_ms());
	if (getenv(ENTER_MARK))
		environment_set(env, ENTER_MARK, getenv(ENTER_MARK));
	else if (target->contained)
		environment_set(env, ENTER_MARK, mark);
	return 0;
}

int enter_exec(const struct enter_target *target, char *const *argv,
	       struct error *err)
{
	struct environment env = { 0 };
	char path[64], *program = NULL;

	if (take_environment(target, &env, err) < 0)
		goto out;
	if (target->port) {
		if (port_relay(target->port, err) == 0)
			_exit(0);
		goto out;
	}
	snprintf(path, sizeof(path), "/proc/%ld/cwd", (long)target->pid);
	if (chdir(path) < 0) {
		failed(target->pid, err);
		goto out;
	}
	if (target->contained)
		inside_exec(target->pid, &env, argv, err);
	else
		program = process_find(argv[0], ".", env.items, err);
	if (program) {
		process_restore_core();
		signal(SIGPIPE, SIG_DFL);
		execve(program, argv, env.items);
		error_errno(err, "cannot run '%s'", argv[0]);
	}
out:
	free(program);
	environment_done(&env);
	return -1;
}

/* Whether it is the same program as we are. */
static bool is_jobrun(pid_t pid)
{
	char path[64];
	struct stat own, other;

	snprintf(path, sizeof(path), "/proc/%ld/exe", (long)pid);
	return stat("/proc/self/exe", &own) == 0 && stat(path, &other) == 0 &&
	       own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

/* Whether the process is the task's, or a child of it. */
static bool is_of_task(pid_t pid, const char *run)
{
	char path[64], *text;
	struct environment env;
	struct error ignored;
	const char *folder;
	size_t len;
	bool is;

	snprintf(path, sizeof(path), "/proc/%ld/environ", (long)pid);
	text = file_read(path, ENVIRON_MAX, &len, &ignored);
	if (!text)
		return false;
	split(text, len, &env);
	folder = environment_get(&env, "JOBRUN_RUN_DIR");
	is = folder && is_below(folder, run) &&
	     !environment_get(&env, ENTER_MARK) && !is_jobrun(pid);
	free(env.items);
	free(text);
	return is;
}

/* The oldest process of a task so far. */
struct oldest {
	struct enter_target *target;
	unsigned long long begun; /* 0: none */
};

static void keep_oldest(pid_t pid, void *arg)
{
	struct oldest *oldest = arg;
	unsigned long long begun;

	if (!is_of_task(pid, oldest->target->run))
		return;
	begun = process_begun(pid);
	if (!begun || (oldest->begun && begun >= oldest->begun))
		return;
	oldest->begun = begun;
	oldest->target->pid = pid;
}

int enter_find(struct enter_target *out, struct error *err)
{
	struct oldest oldest = { .target = out };

	*out = (struct enter_target){ .run = getenv("JOBRUN_RUN_DIR") };
	if (!out->run)
		return error_set(err, ERROR_FAILED,
				 "JOBRUN_RUN_DIR is not set in the container");
	process_each(keep_oldest, &oldest);
	return oldest.begun
		       ? 0
		       : error_set(err, ERROR_TRY_AGAIN,
				   "the program of the task does not run yet");
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

int enter_attended(const struct enter_target *target, char *const *argv,
		   struct error *err)
{
	sigset_t set, before;
	int signals, status;
	pid_t child;

	if (isatty(STDIN_FILENO))
		return enter_exec(target, argv, err);
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
		enter_exec(target, argv, err);
		fprintf(stderr, "jobrun: error: %s\n", err->text);
		_exit(1);
	}
	setpgid(child, child);
	status = attend(child, signals);
	close(signals);
	return process_exit_code(status);
}
