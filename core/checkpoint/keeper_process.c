/* SPDX-License-Identifier: Apache-2.0 */
/* A keeper as its parent sees it, without a loop around it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/checkpoint/keeper.h"
#include "core/process/process.h"

#define ANSWER_MAX 65536

/* Makes the pipes: `in` and `out` are the keeper's ends. */
static int open_pipes(struct keeper_process *keeper, int *in, int *out,
		      struct error *err)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) < 0)
		return error_errno(err, "cannot make a pipe");
	if (pipe2(from, O_CLOEXEC) < 0) {
		error_errno(err, "cannot make a pipe");
		close(to[0]);
		close(to[1]);
		return -1;
	}
	*in = to[0];
	*out = from[1];
	keeper->to = to[1];
	keeper->from = from[0];
	return 0;
}

/* With its process begun, or not (pid -1). */
static int begin(const struct keeper_config *config,
		 struct keeper_process *keeper, int in, int out)
{
	char *line = keeper_config_write(config);

	close(in);
	close(out);
	/* It fits into the pipe; if nobody reads it, that is heard. */
	if (keeper->pid < 0 || fd_write(keeper->to, line, strlen(line)) < 0)
		errno = 0;
	if (keeper->pid < 0) {
		close(keeper->to);
		close(keeper->from);
	}
	free(line);
	return keeper->pid < 0 ? -1 : 0;
}

int keeper_spawn(const struct keeper_config *config,
		 const struct rlimit *no_files, struct keeper_process *out,
		 struct error *err)
{
	char program[4096];
	char *argv[] = { (char *)"jobrun", (char *)KEEPER_COMMAND, NULL };
	struct process_start start = {
		.path = program,
		.argv = argv,
		.envp = environ,
		.directory = "/",
		.no_files = no_files,
		.err = STDERR_FILENO,
	};
	struct keeper_process keeper;

	process_self(program, sizeof(program));
	if (open_pipes(&keeper, &start.in, &start.out, err) < 0)
		return -1;
	keeper.pid = process_start(&start, err);
	if (begin(config, &keeper, start.in, start.out) < 0)
		return -1;
	*out = keeper;
	return 0;
}

/* In the child. */
static void become_keeper(int in, int out, pid_t parent,
			  int (*run)(const void *arg), const void *arg)
{
	sigset_t none;

	setpgid(0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(127);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(127);
	closefrom(STDERR_FILENO + 1);
	_exit(run(arg));
}

int keeper_fork(const struct keeper_config *config, int (*run)(const void *arg),
		const void *arg, struct keeper_process *out, struct error *err)
{
	struct keeper_process keeper;
	pid_t parent = getpid();
	int in, to_us;

	if (open_pipes(&keeper, &in, &to_us, err) < 0)
		return -1;
	keeper.pid = fork();
	if (keeper.pid == 0)
		become_keeper(in, to_us, parent, run, arg);
	if (keeper.pid < 0)
		error_errno(err, "cannot fork");
	if (begin(config, &keeper, in, to_us) < 0)
		return -1;
	*out = keeper;
	return 0;
}

/* 1: there is none, but the end of a keeper. */
static int read_answer(const char *text, size_t len, char **path,
		       struct error *err)
{
	struct error ignored;
	json_t *value = json_read(text, len, "its answer", &ignored);
	const char *why = json_get_text(value, "error", NULL);
	const char *found = json_get_text(value, "checkpoint", NULL);
	int ret = 0;

	if (!value)
		ret = 1;
	else if (why)
		ret = error_set(err, ERROR_FAILED, "%s", why);
	else
		*path = found ? mem_strdup(found) : NULL;
	json_decref(value);
	return ret;
}

int keeper_hear(const struct keeper_process *keeper, char **path,
		struct error *err)
{
	struct buf text = { 0 };
	char data[1024];
	ssize_t n;
	int ret;

	do {
		n = read(keeper->from, data, sizeof(data));
		if (n > 0)
			buf_add(&text, data, (size_t)n);
	} while ((n < 0 && errno == EINTR) ||
		 (n > 0 && text.len < ANSWER_MAX && data[n - 1] != '\n'));
	ret = read_answer(buf_text(&text), text.len, path, err);
	buf_done(&text);
	return ret;
}

void keeper_tell(const struct keeper_process *keeper,
		 const struct keeper_end *end)
{
	char *line = keeper_end_write(end);

	/* One that is dead does not hear it. */
	if (fd_write(keeper->to, line, strlen(line)) < 0)
		errno = 0;
	free(line);
}

void keeper_environment(const char *directory, const char *path,
			struct environment *out)
{
	char *folder;

	environment_set(out, "JOBRUN_CHECKPOINT_DIR", directory);
	if (!path)
		return;
	folder = path_folder(path);
	environment_set(out, "JOBRUN_CHECKPOINT", path);
	environment_set(out, "LOAD_CHKPT_DIR", folder);
	environment_set(out, "LOAD_CHKPT_FILE", path_base(path));
	free(folder);
}
