/* SPDX-License-Identifier: Apache-2.0 */
/* The tasks of the runs in a store. */
#include "core/store/store.h"

#include <stdio.h>
#include <string.h>

#include "core/store/db.h"

/* `id` is that of the run's row. */
static int task_put(struct store *store, int64_t id,
		    const struct task_record *task, struct error *err)
{
	/* An update keeps the row, and with it the task's position. */
	sqlite3_stmt *stmt = store_query(
		store, QUERY_TASK_PUT,
		"INSERT INTO task (run, type, idx, state, exit_code, signal,"
		" host, pid, start_time_ms, end_time_ms, lost_bytes, trial)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
		" ON CONFLICT (run, trial, type, idx) DO UPDATE SET"
		" state = ?4, exit_code = ?5, signal = ?6, host = ?7,"
		" pid = ?8, start_time_ms = ?9, end_time_ms = ?10,"
		" lost_bytes = ?11",
		err);
	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, id);
	store_bind_text(stmt, 2, task->type);
	sqlite3_bind_int(stmt, 3, task->index);
	store_bind_text(stmt, 4, run_state_name(task->state));
	sqlite3_bind_int(stmt, 5, task->exit_code);
	sqlite3_bind_int(stmt, 6, task->signal);
	store_bind_text(stmt, 7, task->host);
	sqlite3_bind_int64(stmt, 8, task->pid);
	sqlite3_bind_int64(stmt, 9, task->start_time_ms);
	sqlite3_bind_int64(stmt, 10, task->end_time_ms);
	sqlite3_bind_int64(stmt, 11, (int64_t)task->lost_bytes);
	sqlite3_bind_int(stmt, 12, task->trial);
	return store_do(store, stmt, err);
}

int store_progress_write(struct store *store, const struct run_record *run,
			 bool with_run, const struct task_record *tasks,
			 const bool *changed, size_t count, struct error *err)
{
	int64_t id;

	if (store_run_id(store, run->job_id, run->attempt, &id, err) < 0)
		return -1;
	for (size_t i = 0; changed && i < count; i++)
		if (changed[i] && task_put(store, id, &tasks[i], err) < 0)
			return -1;
	return with_run ? store_run_write(store, id, run, err) : 0;
}

int store_progress_put(struct store *store, const struct run_record *run,
		       bool with_run, const struct task_record *tasks,
		       const bool *changed, size_t count, struct error *err)
{
	if (store_begin(store, err) < 0)
		return -1;
	return store_end(store,
			 store_progress_write(store, run, with_run, tasks,
					      changed, count, err),
			 err);
}

int store_task_put(struct store *store, const struct run_record *run,
		   const struct task_record *task, struct error *err)
{
	return store_progress_put(store, run, false, task, &(bool){ true }, 1,
				  err);
}

static int read_task(sqlite3_stmt *stmt, struct arena *mem, void *item,
		     struct error *err)
{
	struct task_record *task = item;
	const char *state = store_column(stmt, 2, mem);

	task->type = store_column(stmt, 0, mem);
	task->index = sqlite3_column_int(stmt, 1);
	task->exit_code = sqlite3_column_int(stmt, 3);
	task->signal = sqlite3_column_int(stmt, 4);
	task->host = store_column(stmt, 5, mem);
	task->pid = sqlite3_column_int64(stmt, 6);
	task->start_time_ms = sqlite3_column_int64(stmt, 7);
	task->end_time_ms = sqlite3_column_int64(stmt, 8);
	task->lost_bytes = (uint64_t)sqlite3_column_int64(stmt, 9);
	task->trial = sqlite3_column_int(stmt, 10);
	if (run_state_parse(state, &task->state) < 0)
		return error_set(err, ERROR_FAILED,
				 "the store has task %s %d in a state '%s'",
				 task->type, task->index, state);
	return 0;
}

static int task_list(struct store *store, const struct run_record *run,
		     struct arena *mem, struct task_list *out,
		     struct error *err)
{
	static const char sql[] =
		"SELECT type, idx, task.state, task.exit_code, signal,"
		" task.host, pid, task.start_time_ms, task.end_time_ms,"
		" lost_bytes, %s FROM task JOIN run ON task.run = run.id"
		" WHERE job_id = ?1 AND attempt = ?2 ORDER BY task.id";
	char text[sizeof(sql) + 8];
	sqlite3_stmt *stmt;

	snprintf(text, sizeof(text), sql,
		 store->version < STORE_VERSION_TRIAL ? "0" : "trial");
	stmt = store_query(store, QUERY_TASK_LIST, text, err);
	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, run->job_id);
	sqlite3_bind_int(stmt, 2, run->attempt);
	return store_rows(store, stmt, read_task, sizeof(*out->items), mem,
			  &out->items, &out->count, err);
}

int store_task_list(struct store *store, const struct run_record *run,
		    struct arena *mem, struct task_list *out, struct error *err)
{
	store_lock(store);
	return store_end(store, task_list(store, run, mem, out, err), err);
}
