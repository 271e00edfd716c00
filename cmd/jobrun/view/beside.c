/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/beside.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/view/sources.h"
#include "core/enter/enter.h"
#include "core/process/process.h"

const struct opt beside_rows[] = {
	{ 0, "task", OPT_STRING, offsetof(struct beside_opts, task), "TYPE",
	  "master (default), worker, ps or evaluator" },
	{ 0, "index", OPT_NUMBER, offsetof(struct beside_opts, index), "N",
	  "the index of the task; the first is 0" },
	{ 0, "trial", OPT_COUNT, offsetof(struct beside_opts, trial), "N",
	  "the trial, of a run that tries hyperparameters" },
	{ 0 },
};

static int find_task(struct session *session, const struct run_record *run,
		     const struct beside_opts *opts, struct arena *mem,
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

int beside_find(struct app *app, const char *job_id,
		const struct beside_opts *opts, char *const *argv,
		struct arena *mem, struct enter_way *out, struct error *err)
{
	static char word[] = "-"; /* a way has one, if only in form */
	static char *const none[] = { word, NULL };
	struct enter_wish wish = { .argv = opts->port ? none : argv,
				   .port = opts->port,
				   .terminal = isatty(STDIN_FILENO) &&
					       app->out_terminal,
				   .outside = opts->outside };
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

int beside_enter(const struct enter_way *way, char *const *argv,
		 struct error *err)
{
	return way->target ? enter_exec(way->target, argv, err)
			   : beside_become(way->argv, err);
}

int beside_become(char *const *argv, struct error *err)
{
	char *program = process_find(argv[0], ".", environ, err);

	if (program) {
		process_restore_core();
		execv(program, argv);
		error_errno(err, "cannot run '%s'", argv[0]);
	}
	free(program);
	return -1;
}
