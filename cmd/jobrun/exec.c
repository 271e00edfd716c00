/* SPDX-License-Identifier: Apache-2.0 */
/* 'exec' and 'shell': a command beside a task of a running job.  This process
 * becomes the command, or what reaches it. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/jobrun/commands.h"
#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/view/sources.h"
#include "core/process/enter.h"
#include "core/process/process.h"

struct exec_opts {
	const char *task;
	long index;
	long trial;
};

static const struct opt options[] = {
	{ 0, "task", OPT_STRING, offsetof(struct exec_opts, task), "TYPE",
	  "master (default), worker, ps or evaluator" },
	{ 0, "index", OPT_NUMBER, offsetof(struct exec_opts, index), "N",
	  "the index of the task; the first is 0" },
	{ 0, "trial", OPT_COUNT, offsetof(struct exec_opts, trial), "N",
	  "the trial, of a run that tries hyperparameters" },
	{ 0 },
};

static int find_task(struct session *session, const struct run_record *run,
		     const struct exec_opts *opts, struct arena *mem,
		     const struct task_record **out, struct error *err)
{
	const char *type =
		opts->task ? opts->task : task_type_name(TASK_MASTER);
	struct task_list tasks;
	enum task_type ignored;
	size_t i;

	if (sources_type(opts->task, &ignored, err) < 0 ||
	    store_task_list(session->env.store, run, mem, &tasks, err) < 0)
		return -1;
	if (run_state_is_final(run->state))
		return error_set(err, ERROR_FAILED,
				 "%s has ended (%s): there is no task to enter",
				 run->job_id, run_state_name(run->state));
	*out = NULL;
	for (i = 0; i < tasks.count; i++) {
		const struct task_record *task = &tasks.items[i];

		if (!strcmp(task->type, type) && task->index == opts->index &&
		    (!opts->trial || task->trial == opts->trial) &&
		    (!*out || !run_state_is_final(task->state)))
			*out = task;
	}
	if (!*out && !tasks.count)
		return error_set(err, ERROR_TRY_AGAIN,
				 "%s is %s: no task runs yet", run->job_id,
				 run_state_name(run->state));
	if (!*out)
		return error_set(err, ERROR_USAGE, "%s has no task %s %ld",
				 run->job_id, type, opts->index);
	if ((*out)->state != RUN_RUNNING)
		return error_set(err, ERROR_TRY_AGAIN,
				 "%s %ld of %s is %s, not running", type,
				 opts->index, run->job_id,
				 run_state_name((*out)->state));
	return 0;
}

/* Finds out how to reach the task; opens nothing that outlives it. */
static int find_way(struct app *app, const char *job_id,
		    const struct exec_opts *opts, char *const *argv,
		    struct arena *mem, struct enter_way *out, struct error *err)
{
	struct enter_wish wish = { .argv = argv,
				   .terminal = isatty(STDIN_FILENO) &&
					       app->out_terminal };
	const struct provider *provider;
	struct session session = { 0 };
	struct run_record run;
	struct resource resource;
	void *ctx = NULL;
	int ret = -1;

	if (session_open(&session, app, 0, err) < 0 ||
	    session_run(&session, job_id, 0, mem, &run, err) < 0 ||
	    find_task(&session, &run, opts, mem, &wish.task, err) < 0)
		goto out;
	wish.run = &run;
	resource = session_resource(&run, &provider);
	if (!provider || !resource.kind->enter)
		error_set(err, ERROR_FAILED,
			  "the provider %s lets no command in beside a task",
			  run.provider);
	else
		ctx = session_context(&session, provider, err);
	if (ctx)
		ret = resource.kind->enter(ctx, &wish, mem, out, err);
out:
	session_close(&session);
	return ret;
}

static int enter(struct app *app, const char *job_id,
		 const struct exec_opts *opts, char *const *argv)
{
	struct arena *mem = arena_new();
	struct enter_way way = { 0 };
	char *program = NULL;
	struct error err;
	int status;

	if (find_way(app, job_id, opts, argv, mem, &way, &err) < 0) {
		status = app_fail(app, &err);
		goto out;
	}
	if (way.pid) {
		enter_exec(way.pid, argv, &err);
	} else {
		program = process_find(way.argv[0], ".", environ, &err);
		if (program) {
			process_restore_core();
			execv(program, way.argv);
			error_errno(&err, "cannot run '%s'", way.argv[0]);
		}
	}
	status = app_fail(app, &err);
out:
	free(program);
	arena_free(mem);
	return status;
}

static int run_exec(struct app *app, int argc, char **argv)
{
	struct exec_opts opts = { 0 };
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
	static char line[] = "exec \"${SHELL:-/bin/sh}\"";
	static char *const shell[] = { sh, c, line, NULL };
	struct exec_opts opts = { 0 };
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
	.options = options,
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
	.options = options,
	.remote = true,
	.run = run_shell,
};
