/* SPDX-License-Identifier: Apache-2.0 */
/* The saver as its parent sees it, without a loop. */
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
#include "core/checkpoint/saver.h"
#include "core/process/process.h"

#define ANSWER_MAX 65536

/* Makes the pipes: `in` and `out` are the saver's ends. */
static int open_pipes(struct saver_process *saver, int *in, int *out,
		      struct error *err)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) < 0)
		return error_errno(err, "cannot create a pipe");
	if (pipe2(from, O_CLOEXEC) < 0) {
		error_errno(err, "cannot create a pipe");
		close(to[0]);
		close(to[1]);
		return -1;
	}
	*in = to[0];
	*out = from[1];
	saver->to = to[1];
	saver->from = from[0];
	return 0;
}

/* Starts the process; pid is -1 if that failed. */
static int begin(const struct saver_config *config, struct saver_process *saver,
		 int in, int out)
{
	char *line = saver_config_write(config);

	close(in);
	close(out);
	/* A pipe has room for the line; a dead reader is noticed elsewhere. */
	if (saver->pid < 0 || fd_write(saver->to, line, strlen(line)) < 0)
		errno = 0;
	if (saver->pid < 0) {
		close(saver->to);
		close(saver->from);
	}
	free(line);
	return saver->pid < 0 ? -1 : 0;
}

int saver_spawn(const struct saver_config *config,
		const struct rlimit *no_files, struct saver_process *out,
		struct error *err)
{
	char program[4096];
	char *argv[] = { (char *)"jobrun", (char *)SAVER_COMMAND, NULL };
	struct process_start start = {
		.path = program,
		.argv = argv,
		.envp = environ,
		.directory = "/",
		.no_files = no_files,
		.err = STDERR_FILENO,
	};
	struct saver_process saver;

	process_self(program, sizeof(program));
	if (open_pipes(&saver, &start.in, &start.out, err) < 0)
		return -1;
	saver.pid = process_start(&start, err);
	if (begin(config, &saver, start.in, start.out) < 0)
		return -1;
	*out = saver;
	return 0;
}

/* Turns the child into the saver. */
static void become_saver(int in, int out, pid_t parent,
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
	fd_close_from(STDERR_FILENO + 1);
	_exit(run(arg));
}

int saver_fork(const struct saver_config *config, int (*run)(const void *arg),
	       const void *arg, struct saver_process *out, struct error *err)
{
	struct saver_process saver;
	pid_t parent = getpid();
	int in, to_us;

	if (open_pipes(&saver, &in, &to_us, err) < 0)
		return -1;
	saver.pid = fork();
	if (saver.pid == 0)
		become_saver(in, to_us, parent, run, arg);
	if (saver.pid < 0)
		error_errno(err, "cannot fork");
	if (begin(config, &saver, in, to_us) < 0)
		return -1;
	*out = saver;
	return 0;
}

/* Reads the answer; returns 1 if the saver ended without one. */
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

int saver_hear(const struct saver_process *saver, char **path,
	       struct error *err)
{
	struct buf text = { 0 };
	char data[1024];
	ssize_t n;
	int ret;

	do {
		n = read(saver->from, data, sizeof(data));
		if (n > 0)
			buf_add(&text, data, (size_t)n);
	} while ((n < 0 && errno == EINTR) ||
		 (n > 0 && text.len < ANSWER_MAX && data[n - 1] != '\n'));
	ret = read_answer(buf_text(&text), text.len, path, err);
	buf_done(&text);
	return ret;
}

void saver_tell(const struct saver_process *saver, const struct saver_end *end)
{
	char *line = saver_end_write(end);

	/* A dead saver does not read it. */
	if (fd_write(saver->to, line, strlen(line)) < 0)
		errno = 0;
	free(line);
}

void saver_environment(const char *directory, const char *path,
		       struct environment *out)
{
	char *folder, *data;

	environment_set(out, "JOBRUN_CHECKPOINT_DIR", directory);
	if (!path)
		return;
	data = path_join(path, SAVER_DATA_STATE);
	if (access(data, F_OK) == 0)
		environment_set(out, "JOBRUN_DATA_STATE", data);
	free(data);
	folder = path_folder(path);
	environment_set(out, "JOBRUN_CHECKPOINT", path);
	environment_set(out, "LOAD_CHKPT_DIR", folder);
	environment_set(out, "LOAD_CHKPT_FILE", path_base(path));
	free(folder);
}
