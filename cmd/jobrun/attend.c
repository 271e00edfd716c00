/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a task on another host if it needs jobrun beside it; not for users.
 * Unlike 'launch' it detects nothing, as its caller knows everything. */
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/launch_checkpoints.h"
#include "core/base/file.h"
#include "core/spec/hosts_program.h"
#include "core/process/process.h"

#define STATUS_CANNOT_RUN 126
#define STATUS_NOT_FOUND 127

struct attend_opts {
	long task;
	long tasks;
	struct launch_checkpoint_opts checkpoints;
};

static const struct opt options[] = {
	{ 0, "task", OPT_NUMBER, offsetof(struct attend_opts, task), "N",
	  "its number in the run" },
	{ 0, "tasks", OPT_NUMBER, offsetof(struct attend_opts, tasks), "N",
	  "how many there are" },
	{ 0 },
};

/* Makes sure that `jobrun` in the command is this program. */
static void put_into_path(struct environment *env)
{
	const char *old = environment_get(env, "PATH");
	char program[4096], *folder, *path;

	process_self(program, sizeof(program));
	folder = path_folder(program);
	path = mem_printf("%s%s%s", folder, old ? ":" : "", old ? old : "");
	environment_set(env, "PATH", path);
	free(path);
	free(folder);
}

static int run(struct app *app, int argc, char **argv)
{
	struct attend_opts opts = { .tasks = 1 };
	struct launch_program program = { .sigpipe = app->sigpipe,
					  .own_group = true };
	struct environment env = { 0 };
	struct arena *mem;
	struct error err;
	char *path = NULL;
	int first, how, status = STATUS_CANNOT_RUN;

	first = options_parse(app, &cmd_attend, argc, argv, &opts, 1, INT_MAX,
			      &status);
	if (first < 0)
		return status;
	mem = arena_new();
	environment_inherit(&env, environ);
	put_into_path(&env);
	path = process_find(argv[first], ".", env.items, &err);
	if (!path) {
		app_fail(app, &err);
		status = STATUS_NOT_FOUND;
		goto out;
	}
	if (launch_checkpoints_check(&opts.checkpoints, &err) < 0 ||
	    launch_checkpoints_keep(&opts.checkpoints, app->trace_http,
				    (size_t)opts.tasks, (size_t)opts.task, mem,
				    &env, &program.saver, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	program.path = path;
	program.argv = argv + first;
	program.envp = env.items;
	if (launch_supervise(&program, 0, &how, &err) == 0) {
		status = launch_end_alike(how);
	} else {
		app_fail(app, &err);
		status = STATUS_CANNOT_RUN;
	}
out:
	launch_saver_free(program.saver);
	free(path);
	environment_done(&env);
	arena_free(mem);
	return status;
}

const struct command cmd_attend = {
	.name = HOSTS_PROGRAM_COMMAND,
	.args = "[--] COMMAND [ARGUMENT]...",
	.summary = "run a task on another host; started by 'apply'",
	.options = options,
	.shared = launch_checkpoint_options,
	.shared_offset = offsetof(struct attend_opts, checkpoints),
	.hidden = true,
	.remote = true,
	.wraps = true,
	.run = run,
};
