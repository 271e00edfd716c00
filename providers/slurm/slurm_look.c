/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the folder of an attempt: copies its new parts into the local folder,
 * where all readers of logs look.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/task/task_runner.h"
#include "core/task/task_files.h"
#include "core/remote/log_sync.h"
#include "providers/slurm/slurm_look.h"

/* How late a shared directory may show a task's last output after its end. */
#define WHOLE_MS 60000
#define STATUS_MAX 64

/* ---- files ------------------------------------------------------------- */

const char *look_run_folder(const struct slurm_look *look)
{
	return cluster_run_folder(look->at->cluster, look->record->run.job_id,
				  look->record->name, look->mem);
}

static const char *there(const struct slurm_look *look)
{
	const char *run = look_run_folder(look);

	if (look->trial)
		return arena_printf(look->mem, "%s/trials/%d/attempts/%d", run,
				    look->trial, look->attempt);
	return arena_printf(look->mem, "%s/attempts/%d", run, look->attempt);
}

static int fetch_once(struct slurm_look *look, const char *folder, size_t *got,
		      struct error *err)
{
	const char *argv[] = { look->record->program, "mirror", folder, NULL };
	struct cluster *cluster = look->at->cluster;
	struct command_answer answer = { 0 };
	struct buf have = { 0 };
	char *path;
	int ret = log_sync_have(look->folder, &have, err);

	if (ret == 0 && cluster_is_remote(cluster)) {
		const struct cluster_input input = { .data = buf_text(&have),
						     .len = have.len };

		ret = cluster_call(cluster, argv, &input, &answer, err);
		if (ret == 0 && command_status(&answer) != 0) {
			char words[256];

			command_last_words(&answer, words, sizeof(words));
			ret = error_set(err, ERROR_FAILED,
					"cannot read the run's files: %s",
					words);
		}
	} else if (ret == 0) {
		path = cluster_path(cluster, folder);
		ret = log_sync_send(path, buf_text(&have), &answer.out, err);
		free(path);
	}
	if (ret == 0)
		ret = log_sync_take(look->folder, &answer.out, err);
	*got = answer.out.len;
	command_answer_done(&answer);
	buf_done(&have);
	return ret;
}

int look_lock(const struct slurm_look *look, struct error *err)
{
	char *path = path_join(look->folder, ".mirror");
	int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	free(path);
	if (lock < 0)
		return error_errno(err, "cannot write in '%s'", look->folder);
	while (flock(lock, LOCK_EX) < 0 && errno == EINTR)
		;
	return lock;
}

int look_fetch(struct slurm_look *look, struct error *err)
{
	const char *folder = there(look);
	int lock = look_lock(look, err);
	int ret = 0;
	size_t got;

	if (lock < 0)
		return -1;
	do {
		ret = fetch_once(look, folder, &got, err);
	} while (ret == 0 && got >= LOG_SYNC_MAX);
	close(lock);
	return ret;
}

void look_read_status(struct slurm_look *look)
{
	char *path = path_join(look->folder, "status");
	struct error ignored;
	size_t len;
	char *text = file_read(path, STATUS_MAX, &len, &ignored);
	struct stat st;

	look->status = text && len ? atoi(text) : -1;
	if (look->status >= 0 && stat(path, &st) == 0)
		look->status_ms = (int64_t)st.st_mtim.tv_sec * 1000 +
				  st.st_mtim.tv_nsec / 1000000;
	free(text);
	free(path);
}

/* ---- tasks ------------------------------------------------------------- */

int look_make_tasks(struct slurm_look *look, struct error *err)
{
	struct run_spec spec;
	size_t i;

	if (spec_read(look->folder, look->mem, &spec, err) < 0)
		return -1;
	task_files_list(&spec, look->mem, &look->tasks);
	look->changed = arena_alloc(look->mem, look->tasks.count + 1);
	for (i = 0; i < look->tasks.count; i++) {
		look->tasks.items[i].trial = look->trial;
		look->changed[i] = true;
	}
	return 0;
}

/* Lists the tasks in the store: those of a trial, or without trials of the
 * run. */
static int list_tasks(struct slurm_look *look, struct error *err)
{
	struct task_list all;
	size_t i, n = 0;

	if (store_task_list(look->slurm->env.store, &look->record->run,
			    look->mem, &all, err) < 0)
		return -1;
	for (i = 0; i < all.count; i++)
		if (all.items[i].trial == look->trial)
			all.items[n++] = all.items[i];
	look->tasks = (struct task_list){ .count = n, .items = all.items };
	return 0;
}

int look_read_tasks(struct slurm_look *look, struct error *err)
{
	if (list_tasks(look, err) < 0)
		return -1;
	look->changed =
		arena_alloc(look->mem, look->tasks.count * sizeof(bool) + 1);
	if (!look->tasks.count && look_make_tasks(look, err) < 0)
		return -1;
	return task_files_read(look->folder, look->mem, &look->tasks,
			       look->changed, err);
}

const struct task_record *look_master(const struct slurm_look *look)
{
	return look->tasks.count ? &look->tasks.items[0] : NULL;
}

void look_settle_tasks(struct slurm_look *look, const struct task_record *first)
{
	size_t i;

	for (i = 0; i < look->tasks.count; i++) {
		struct task_record *task = &look->tasks.items[i];

		if (task->state == RUN_SUCCEEDED ||
		    (task->state == RUN_FAILED && !task->signal && first))
			continue;
		task->state = task == first ? RUN_FAILED : RUN_CANCELLED;
		look->changed[i] = true;
	}
}

static bool is_whole(const struct slurm_look *look)
{
	size_t i;

	for (i = 0; i < look->tasks.count; i++)
		if (!task_file_is_whole(look->folder, &look->tasks.items[i]))
			return false;
	return true;
}

int64_t look_end_time(const struct slurm_look *look)
{
	if (look->known && run_state_is_final(queue_state(look->job.state)))
		return look->job.end_time_ms;
	return look->status_ms;
}

int64_t look_start_time(const struct slurm_look *look)
{
	int64_t first_ms = 0;
	size_t i;

	if (look->attempt == 0)
		return look->known ? look->job.start_time_ms : 0;
	for (i = 0; i < look->tasks.count; i++) {
		int64_t ms = look->tasks.items[i].start_time_ms;

		if (ms && (!first_ms || ms < first_ms))
			first_ms = ms;
	}
	return first_ms;
}

bool look_is_settled(const struct slurm_look *look)
{
	int64_t past_ms = time_now_ms() - look_end_time(look);

	return (!task_files_lost(&look->tasks) || past_ms > LOOK_SETTLE_MS) &&
	       (past_ms > WHOLE_MS || is_whole(look));
}

bool look_is_changed(const struct slurm_look *look)
{
	size_t i;

	for (i = 0; i < look->tasks.count; i++)
		if (look->changed[i])
			return true;
	return false;
}
