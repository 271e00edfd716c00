/* SPDX-License-Identifier: Apache-2.0 */
#include "core/task/task_files.h"

#include <signal.h>

#include "core/task/task_runner.h"

void task_files_list(const struct run_spec *spec, struct arena *mem,
		     struct task_list *out)
{
	size_t i;

	out->count = spec->topology.count;
	out->items = arena_alloc(mem, out->count * sizeof(*out->items));
	for (i = 0; i < out->count; i++) {
		const struct task_place *place = &spec->topology.tasks[i];

		out->items[i] = (struct task_record){
			.type = task_type_name(place->type),
			.index = place->index,
			.state = RUN_QUEUED,
			.exit_code = -1,
			.host = "",
		};
	}
}

int task_files_read(const char *folder, struct arena *mem,
		    struct task_list *tasks, bool *changed, struct error *err)
{
	size_t i;

	for (i = 0; i < tasks->count; i++) {
		struct task_record *task = &tasks->items[i];
		enum run_state before = task->state;

		if (run_state_is_final(before))
			continue;
		if (task_file_read(folder, mem, task, err) < 0)
			return -1;
		if (changed && task->state != before)
			changed[i] = true;
	}
	return 0;
}

const struct task_record *task_files_lost(const struct task_list *tasks)
{
	size_t i;

	for (i = 0; i < tasks->count; i++)
		if (tasks->items[i].state == RUN_RUNNING)
			return &tasks->items[i];
	return NULL;
}

/* How likely it is that a task has ended the attempt; the highest value
 * counts. */
enum blame {
	BLAME_NONE,
	BLAME_TOLD,    /* it was asked to end */
	BLAME_SIGTERM, /* the signal that ends the other tasks, too */
	BLAME_SIGNAL,
	BLAME_EXIT,
	BLAME_LOST, /* the others may have failed because of it */
};

static enum blame blame_of(const char *folder, const struct task_record *task)
{
	if (task->state != RUN_FAILED && task->state != RUN_RUNNING)
		return BLAME_NONE;
	if (task_file_was_told(folder, task))
		return BLAME_TOLD;
	if (task->state == RUN_RUNNING)
		return BLAME_LOST;
	if (task->exit_code == 128 + SIGTERM)
		return BLAME_SIGTERM;
	return task->signal ? BLAME_SIGNAL : BLAME_EXIT;
}

void task_files_outcome(const char *folder, const struct task_list *tasks,
			struct attempt_outcome *out)
{
	enum blame most = BLAME_NONE;
	bool told = false;
	size_t i;

	*out = (struct attempt_outcome){ .cause = OUTCOME_OTHER,
					 .exit_code = -1 };
	for (i = 0; i < tasks->count; i++) {
		const struct task_record *task = &tasks->items[i];
		enum blame blame = blame_of(folder, task);

		told = told || blame == BLAME_TOLD;
		if (blame > most ||
		    (blame == most && blame > BLAME_NONE &&
		     blame < BLAME_LOST &&
		     task->end_time_ms < out->task->end_time_ms)) {
			out->task = task;
			most = blame;
		}
	}
	if (most == BLAME_NONE)
		return;
	out->exit_code = out->task->exit_code;
	out->cause = most == BLAME_LOST ? OUTCOME_LOST
		     : most == BLAME_TOLD || (most == BLAME_SIGTERM && told)
			     ? OUTCOME_CANCEL
			     : OUTCOME_TASK;
}
