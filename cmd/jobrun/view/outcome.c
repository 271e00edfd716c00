/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/outcome.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/jobrun/view/left.h"
#include "cmd/jobrun/view/trials.h"
#include "core/base/units.h"
#include "core/log/log.h"

#define LAST_LINES 10

const struct task_record *outcome_culprit(const struct task_list *tasks)
{
	const struct task_record *first = NULL;
	size_t i;

	for (i = 0; i < tasks->count; i++) {
		const struct task_record *task = &tasks->items[i];

		if (task->state == RUN_FAILED &&
		    (!first || task->end_time_ms < first->end_time_ms))
			first = task;
	}
	return first;
}

static void say_last_lines(struct session *session,
			   const struct run_record *run,
			   const struct task_record *task)
{
	char *folder =
		store_run_folder(session->env.store, run->job_id, run->attempt);
	struct buf lines = { 0 };
	struct buf out = { 0 };
	struct error ignored;
	char *line, *next;

	if (log_last_lines(folder, task->type, task->index, LOG_STDERR,
			   LAST_LINES, &lines, &ignored) == 0 &&
	    lines.len) {
		buf_printf(&out,
			   "jobrun: last lines of %s %d's standard "
			   "error:\n",
			   task->type, task->index);
		for (line = lines.data; line && *line; line = next) {
			next = strchr(line, '\n');
			if (next)
				*next++ = '\0';
			buf_printf(&out, "    %s\n", line);
		}
		app_put_messages(session->app, &out);
	}
	buf_done(&out);
	buf_done(&lines);
	free(folder);
}

static void say_lost(struct app *app, const struct task_list *tasks)
{
	char size[32];
	size_t i;

	for (i = 0; i < tasks->count; i++) {
		const struct task_record *task = &tasks->items[i];

		if (!task->lost_bytes)
			continue;
		size_format(task->lost_bytes, size, sizeof(size));
		app_say(app,
			"warning: lost %s of the output of %s %d: the disk was "
			"full",
			size, task->type, task->index);
	}
}

static void say_best(struct session *session, const struct run_record *run,
		     struct arena *mem)
{
	const struct hyperparameter_spec *spec;
	const struct trial_record *best;
	struct trial_list trials;
	struct error ignored;
	struct buf text = { 0 };

	if (store_trial_list(session->env.store, run, mem, &trials, &ignored) <
		    0 ||
	    !trials.count)
		return;
	spec = trials_spec(session, run, mem);
	best = spec ? trials_best(&trials, spec) : NULL;
	if (!best)
		return;
	trial_put_arguments(best, &text);
	app_say(session->app,
		"%s: the best of %zu trials is %d: %s %.6g with %s",
		run->job_id, trials.count, best->number, spec->metric_tag,
		best->value, buf_text(&text));
	buf_done(&text);
}

/* Whether the task ran, here or elsewhere; one that was not started wrote
 * nothing. */
static bool did_run(const struct task_record *task)
{
	return task && (task->pid || task->exit_code >= 0);
}

/* Writes " after 3s", or nothing if the clock was set back meanwhile. */
static void put_duration(const struct run_record *run, char *out, size_t size)
{
	int64_t from =
		run->start_time_ms ? run->start_time_ms : run->create_time_ms;
	char took[32];

	if (run->end_time_ms < from)
		return;
	duration_format((long)((run->end_time_ms - from + 500) / 1000), took,
			sizeof(took));
	snprintf(out, size, " after %s", took);
}

void outcome_say(struct session *session, const struct run_record *run)
{
	struct arena *mem = arena_new();
	struct task_list tasks = { 0 };
	const struct task_record *culprit;
	struct error ignored;
	char took[48] = "";

	put_duration(run, took, sizeof(took));
	store_task_list(session->env.store, run, mem, &tasks, &ignored);
	culprit = run->state == RUN_FAILED ? outcome_culprit(&tasks) : NULL;
	/* The error already names the trial that failed. */
	if (culprit && culprit->trial)
		culprit = NULL;
	say_best(session, run, mem);
	if (did_run(culprit))
		say_last_lines(session, run, culprit);
	say_lost(session->app, &tasks);
	left_say(session, run);
	if (run_refusal(run))
		snprintf(took, sizeof(took), ", not started");
	app_say(session->app, "%s: %s%s%s%s", run->job_id,
		run_state_name(run->state), took, run->error ? ": " : "",
		run->error ? run->error : "");
	if (did_run(culprit))
		app_say(session->app,
			"full log: jobrun logs %s --task %s --index %d",
			run->job_id, culprit->type, culprit->index);
	arena_free(mem);
}

int outcome_status(const struct run_record *run)
{
	if (run_refusal(run))
		return run_refusal(run);
	if (run_status_unbegun(run))
		return run_status_unbegun(run);
	return run->state == RUN_SUCCEEDED ? 0 : ERROR_FAILED;
}
