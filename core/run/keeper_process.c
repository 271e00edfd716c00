/* SPDX-License-Identifier: Apache-2.0 */
/* A keeper as its parent sees it, without a loop around it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/run/keeper.h"
#include "core/run/process.h"

#define ANSWER_MAX 65536

int keeper_spawn(const struct keeper_config *config,
		 const struct rlimit *no_files, struct keeper_process *out,
		 struct error *err)
{
	char program[4096];
	char *argv[] = { (char *)"jobrun", (char *)KEEPER_COMMAND, NULL };
	char *line = keeper_config_write(config);
	struct process_start start = {
		.path = program,
		.argv = argv,
		.envp = environ,
		.directory = "/",
		.no_files = no_files,
		.err = STDERR_FILENO,
	};
	int to[2] = { -1, -1 }, from[2] = { -1, -1 };
	pid_t pid = -1;

	process_self(program, sizeof(program));
	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0) {
		error_errno(err, "cannot make a pipe");
		goto out;
	}
	start.in = to[0];
	start.out = from[1];
	pid = process_start(&start, err);
	if (pid < 0)
		goto out;
	/* It fits into the pipe; if nobody reads it, that is heard. */
	fd_write(to[1], line, strlen(line));
	*out = (struct keeper_process){ pid, to[1], from[0] };
	to[1] = from[0] = -1;
out:
	for (int i = 0; i < 2; i++) {
		if (to[i] >= 0)
			close(to[i]);
		if (from[i] >= 0)
			close(from[i]);
	}
	free(line);
	return pid < 0 ? -1 : 0;
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
