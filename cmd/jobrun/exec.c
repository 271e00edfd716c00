/* SPDX-License-Identifier: Apache-2.0 */
/* 'exec' and 'shell': a command beside a task of a running job.  This process
 * becomes the command, or what reaches it. */
#include <limits.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/view/beside.h"

static int enter(struct app *app, const char *job_id,
		 const struct beside_opts *opts, char *const *argv)
{
	struct arena *mem = arena_new();
	struct enter_way way = { 0 };
	struct error err;

	if (beside_find(app, job_id, opts, argv, mem, &way, &err) == 0)
		beside_enter(&way, argv, &err);
	arena_free(mem);
	return app_fail(app, &err);
}

static int run_exec(struct app *app, int argc, char **argv)
{
	struct beside_opts opts = { 0 };
	int status;
	int first = options_parse(app, &cmd_exec, argc, argv, &opts, 2, INT_MAX,
				  &status);

	if (first < 0)
		return status;
	return enter(app, argv[first], &opts, argv + first + 1);
}

static int run_shell(struct app *app, int argc, char **argv)
{
	static char sh[] = "sh", c[] = "-c";
	/* A container may lack the shell that its variables name. */
	static char line[] = "[ -x \"$SHELL\" ] && exec \"$SHELL\"; "
			     "exec /bin/sh";
	static char *const shell[] = { sh, c, line, NULL };
	struct beside_opts opts = { 0 };
	int status;
	int first = options_parse(app, &cmd_shell, argc, argv, &opts, 1, 1,
				  &status);

	return first < 0 ? status : enter(app, argv[first], &opts, shell);
}

const struct command cmd_exec = {
	.name = "exec",
	.group = GROUP_WATCH,
	.args = "[--task TYPE] [--index N] [--trial N] JOB -- COMMAND "
		"[ARGUMENT]...",
	.summary = "run a command beside a task of a running job",
	.help = "It has the task's directory, environment and devices, and "
		"exits as the\n"
		"command does.\n"
		"  jobrun exec quickstart --task worker --index 1 -- "
		"nvidia-smi\n",
	.options = beside_rows,
	.remote = true,
	.run = run_exec,
};

const struct command cmd_shell = {
	.name = "shell",
	.group = GROUP_WATCH,
	.args = "[--task TYPE] [--index N] [--trial N] JOB",
	.summary = "open a shell beside a task of a running job",
	.help = "The same as 'jobrun exec JOB' with your shell.\n"
		"  jobrun shell quickstart --task worker --index 1\n",
	.options = beside_rows,
	.remote = true,
	.run = run_shell,
};
