/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a task in the folder of its attempt. */
#include "core/task/task_runner.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/log/log_file.h"
#include "core/process/process.h"

#define RECORD_MAX 4096

const char *task_file_path(struct arena *mem, const char *attempt,
			   const char *type, int index)
{
	return arena_printf(mem, "%s/tasks/%s-%d", attempt, type, index);
}

struct ending {
	int status;
	int64_t time_ms;
	uint64_t logged, lost; /* bytes */
};

static bool read_ending(const char *line, struct ending *out)
{
	return sscanf(line, "end %d %" SCNd64 " %" SCNu64 " %" SCNu64,
		      &out->status, &out->time_ms, &out->logged,
		      &out->lost) == 4;
}

static void take_line(struct task_record *task, const char *line,
		      struct arena *mem)
{
	struct ending end;
	char host[256];
	int64_t pid, time_ms;

	if (sscanf(line, "start %255s %" SCNd64 " %" SCNd64, host, &pid,
		   &time_ms) == 3) {
		task->host = arena_strdup(mem, host);
		task->pid = pid;
		task->start_time_ms = time_ms;
		task->state = RUN_RUNNING;
	} else if (read_ending(line, &end)) {
		task->end_time_ms = end.time_ms;
		task->signal =
			WIFSIGNALED(end.status) ? WTERMSIG(end.status) : 0;
		task->exit_code = process_exit_code(end.status);
		task->lost_bytes = end.lost;
		task->state = end.status == 0 ? RUN_SUCCEEDED : RUN_FAILED;
	}
}

int task_file_read(const char *folder, struct arena *mem,
		   struct task_record *task, struct error *err)
{
	const char *path = task_file_path(mem, folder, task->type, task->index);
	char *text, *line, *end;
	size_t len;

	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 1;
	text = file_read(path, RECORD_MAX, &len, err);
	if (!text)
		return -1;
	/* A line without its newline is not complete yet. */
	for (line = text; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		take_line(task, line, mem);
	}
	free(text);
	return 0;
}

bool task_file_was_told(const char *folder, const struct task_record *task)
{
	struct arena *mem = arena_new();
	const char *path = task_file_path(mem, folder, task->type, task->index);
	struct error ignored;
	size_t len;
	char *text = file_read(path, RECORD_MAX, &len, &ignored);
	/* The record comes first if the task was told to end during setup. */
	bool out =
		text && (text_starts(text, "told ") || strstr(text, "\ntold "));

	free(text);
	arena_free(mem);
	return out;
}

bool task_file_is_whole(const char *folder, const struct task_record *task)
{
	struct arena *mem = arena_new();
	const char *path = task_file_path(mem, folder, task->type, task->index);
	struct ending end = { 0 };
	struct error ignored;
	size_t len;
	char *text = file_read(path, RECORD_MAX, &len, &ignored);
	const char *last = text ? strstr(text, "\nend ") : NULL;

	if (last && !read_ending(last + 1, &end))
		end.logged = 0;
	free(text);
	arena_free(mem);
	return !end.logged || log_files_size(folder, task->type, task->index,
					     false) >= end.logged;
}
