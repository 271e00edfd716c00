/* SPDX-License-Identifier: Apache-2.0 */
/* Explains in one line why a run has failed: the task, the node or the limit,
 * and the last output. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/units.h"
#include "core/log/log_cause.h"
#include "core/task/task_files.h"
#include "core/task/task_runner.h"
#include "providers/slurm/attempts.h"
#include "providers/slurm/slurm_look.h"

#define WORDS_MAX ((size_t)1 << 20)

const struct task_record *look_culprit(const struct slurm_look *look)
{
	struct attempt_outcome outcome;

	task_files_outcome(look->folder, &look->tasks, &outcome);
	return outcome.task;
}

/* Adds the last output as the reason: ": ValueError: no data". */
static void add_last_words(const struct slurm_look *look,
			   const struct task_record *task, struct buf *why)
{
	struct buf cause = { 0 };

	log_cause_of_task(look->folder, task->type, task->index, &cause);
	if (cause.len)
		buf_printf(why, ": %s", cause.data);
	buf_done(&cause);
}

static void explain_task(const struct slurm_look *look,
			 const struct task_record *task, struct buf *why)
{
	char name[32];

	if (task->state == RUN_RUNNING) {
		buf_printf(why, "%s %d on %s ended without a message",
			   task->type, task->index, task->host);
	} else if (task->signal) {
		signal_format(task->signal, name, sizeof(name));
		buf_printf(why, "%s %d was killed by %s", task->type,
			   task->index, name);
	} else {
		buf_printf(why, "%s %d exited with %d", task->type, task->index,
			   task->exit_code);
	}
	add_last_words(look, task, why);
}

/* Explains a failed step, from a line such as "srun: error: Task launch for
 * StepId=11.0 failed on node n3: …". */
static void explain_step(const struct slurm_look *look, struct buf *why)
{
	static const char mark[] = "error: ";
	char *path = path_join(look->folder, "srun.err");
	struct error ignored;
	size_t len;
	char *text = file_read(path, WORDS_MAX, &len, &ignored);
	const char *line = text ? strstr(text, mark) : NULL;

	if (line) {
		line += strlen(mark);
		buf_printf(why, "the tasks did not start: %.*s",
			   (int)strcspn(line, "\n"), line);
	} else {
		buf_printf(why,
			   "the tasks did not start: the batch script exited "
			   "with %d",
			   look->status);
	}
	free(text);
	free(path);
}

/* Whether a task never began though the script has ended. */
static bool is_incomplete(const struct slurm_look *look)
{
	size_t i;

	for (i = 0; i < look->tasks.count; i++)
		if (look->tasks.items[i].state == RUN_QUEUED)
			return look->status > 0;
	return false;
}

bool look_explain_files(const struct slurm_look *look, struct buf *why)
{
	const struct task_record *task = look_culprit(look);

	if (is_incomplete(look) &&
	    (!task || task->signal || task->state == RUN_RUNNING))
		explain_step(look, why);
	else if (task)
		explain_task(look, task, why);
	else if (look->status > 0)
		buf_printf(why, "the batch script exited with %d",
			   look->status);
	else
		return false;
	return true;
}

void look_explain_loss(const struct slurm_look *look, struct buf *why)
{
	const struct task_record *gone = task_files_lost(&look->tasks);

	if (gone)
		buf_printf(why, "node %s was lost, and with it %s %d",
			   gone->host, gone->type, gone->index);
	else
		buf_puts(why, "Slurm requeued it: it was preempted");
}

const char *look_explain_limit(const struct slurm_look *look)
{
	char *path = path_join(look->folder, TASK_OVER_TIME_FILE);
	bool by_script = access(path, F_OK) == 0;
	struct run_spec spec;
	struct error ignored;
	char why[160];

	free(path);
	if (!by_script && !(look->known && !strcmp(look->job.state, "TIMEOUT")))
		return NULL;
	if (spec_read(look->folder, look->mem, &spec, &ignored) < 0 ||
	    !spec.max_running_time_s)
		return NULL;
	spec_limit_text(&spec, why, sizeof(why));
	return arena_strdup(look->mem, why);
}

const char *look_explain_wait(const struct slurm_look *look)
{
	const struct run_record *run = &look->record->run;

	/* A script that goes on after a failure waits for its next attempt. */
	if (queue_state(look->job.state) != RUN_RUNNING ||
	    look->job.start_time_ms <= run->create_time_ms)
		return queue_explain(&look->job, look->mem);
	return arena_printf(look->mem,
			    "Slurm has given it %s, where its script has not "
			    "begun yet",
			    look->job.nodes);
}

/* Adds why no other attempt follows, where one could be expected. */
static void add_why_not(const struct slurm_look *look, struct buf *why)
{
	struct slurm_next next;
	struct error ignored;

	if (slurm_next_read(look->folder, &next, &ignored) == 0 &&
	    !next.again && *next.why_not)
		buf_printf(why, " (not restarted: %s)", next.why_not);
}

const char *look_explain(const struct slurm_look *look)
{
	const char *state = look->known ? look->job.state : "";
	const char *text = queue_explain(&look->job, look->mem);
	struct buf why = { 0 };
	const char *out;

	if (look->known && *look->job.note)
		buf_puts(&why, look->job.note);
	else if (!strcmp(state, "NODE_FAIL") && task_files_lost(&look->tasks))
		look_explain_loss(look, &why);
	else if (look->known && *text && strcmp(state, "FAILED") != 0)
		buf_puts(&why, text);
	else if (look_explain_files(look, &why))
		add_why_not(look, &why);
	else if (look->known)
		buf_printf(&why, "Slurm says %s%s%s", state, *text ? ": " : "",
			   text);
	else
		buf_puts(&why, "it never started, and Slurm no longer knows "
			       "it: it was cancelled while it waited, or Slurm "
			       "lost it");
	out = arena_strdup(look->mem, buf_text(&why));
	buf_done(&why);
	return out;
}
