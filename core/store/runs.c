/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of a store, and their folders. */
#include "core/store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/store/db.h"

#define RUN_COLUMNS                                                            \
	"job_id, attempt, provider, digest, state, create_time_ms,"            \
	" start_time_ms, end_time_ms, exit_code, error, host, properties"

/* The id becomes the name of a folder, which may be removed some day. */
static int check_id(const char *job_id, struct error *err)
{
	if (!job_id[0] || job_id[0] == '.' || strchr(job_id, '/'))
		return error_set(err, ERROR_USAGE, "'%s' is not a job id",
				 job_id);
	return 0;
}

static int last_attempt(struct store *store, const char *job_id, int *attempt,
			struct error *err)
{
	sqlite3_stmt *stmt = store_query(
		store, QUERY_RUN_LAST,
		"SELECT max(attempt) FROM run WHERE job_id = ?1", err);

	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, job_id);
	if (store_step(store, stmt, err) < 0)
		return -1;
	*attempt = sqlite3_column_int(stmt, 0); /* of NULL: 0 */
	sqlite3_reset(stmt);
	return 0;
}

/* Returns 1 if the folder is there already, with something in it: logs of a
 * run whose store was lost.  They are nobody's to overwrite. */
static int make_folder(const char *path, struct error *err)
{
	/* An empty one is from an add that was killed. */
	if (mkdir(path, 0700) < 0 &&
	    (errno != EEXIST || rmdir(path) < 0 || mkdir(path, 0700) < 0)) {
		if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)
			return 1;
		return error_errno(err, "cannot make directory '%s'", path);
	}
	chmod(path, 0700);
	return 0;
}

static int insert(struct store *store, const struct run_record *run,
		  struct error *err)
{
	sqlite3_stmt *stmt = store_query(
		store, QUERY_RUN_ADD,
		"INSERT INTO run (" RUN_COLUMNS ")"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, 0, -1, NULL, ?7, ?8)",
		err);

	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, run->job_id);
	sqlite3_bind_int(stmt, 2, run->attempt);
	store_bind_text(stmt, 3, run->provider);
	store_bind_text(stmt, 4, run->digest);
	store_bind_text(stmt, 5, run_state_name(RUN_QUEUED));
	sqlite3_bind_int64(stmt, 6, run->create_time_ms);
	store_bind_text(stmt, 7, run->host);
	store_bind_text(stmt, 8, run->properties);
	return store_do(store, stmt, err);
}

static int run_add(struct store *store, struct run_record *run, char **folder,
		   struct error *err)
{
	char *parent = path_join(store->folder, "runs");
	int taken = folder_make(parent, err);

	free(parent);
	if (taken < 0)
		return -1;
	if (last_attempt(store, run->job_id, &run->attempt, err) < 0)
		return -1;
	do {
		free(*folder);
		*folder = store_run_folder(store, run->job_id, ++run->attempt);
		taken = make_folder(*folder, err);
	} while (taken > 0);
	if (taken < 0) {
		free(*folder);
		*folder = NULL;
		return -1;
	}
	return insert(store, run, err);
}

int store_run_add(struct store *store, struct run_record *run,
		  struct error *err)
{
	struct run_record new = *run;
	char *folder = NULL;
	int ret;

	if (check_id(run->job_id, err) < 0)
		return -1;
	new.state = RUN_QUEUED;
	new.create_time_ms = time_now_ms();
	new.start_time_ms = 0;
	new.end_time_ms = 0;
	new.exit_code = -1;
	new.error = NULL;
	new.host = store->host;
	if (store_begin(store, err) < 0)
		return -1;
	ret = store_end(store, run_add(store, &new, &folder, err), err);
	if (ret < 0 && folder)
		rmdir(folder);
	if (ret == 0)
		*run = new;
	free(folder);
	return ret;
}

static int read_run(sqlite3_stmt *stmt, struct arena *mem,
		    struct run_record *run, struct error *err)
{
	const char *state = store_column(stmt, 4, mem);

	run->job_id = store_column(stmt, 0, mem);
	run->attempt = sqlite3_column_int(stmt, 1);
	run->provider = store_column(stmt, 2, mem);
	run->digest = store_column(stmt, 3, mem);
	run->create_time_ms = sqlite3_column_int64(stmt, 5);
	run->start_time_ms = sqlite3_column_int64(stmt, 6);
	run->end_time_ms = sqlite3_column_int64(stmt, 7);
	run->exit_code = sqlite3_column_int(stmt, 8);
	run->error = store_column(stmt, 9, mem);
	run->host = store_column(stmt, 10, mem);
	run->properties = store_column(stmt, 11, mem);
	if (run_state_parse(state, &run->state) < 0)
		return error_set(err, ERROR_FAILED,
				 "the store has job '%s' in a state '%s'",
				 run->job_id, state);
	return 0;
}

static int run_get(struct store *store, const char *job_id, int attempt,
		   struct arena *mem, struct run_record *out, struct error *err)
{
	struct run_record run;
	sqlite3_stmt *stmt;
	int row;

	if (attempt)
		stmt = store_query(store, QUERY_RUN_GET,
				   "SELECT " RUN_COLUMNS " FROM run"
				   " WHERE job_id = ?1 AND attempt = ?2",
				   err);
	else
		stmt = store_query(store, QUERY_RUN_GET_LAST,
				   "SELECT " RUN_COLUMNS " FROM run"
				   " WHERE job_id = ?1"
				   " ORDER BY attempt DESC LIMIT 1",
				   err);
	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, job_id);
	if (attempt)
		sqlite3_bind_int(stmt, 2, attempt);
	row = store_step(store, stmt, err);
	if (row <= 0)
		return row < 0 ? -1 : 1;
	row = read_run(stmt, mem, &run, err);
	sqlite3_reset(stmt);
	if (row == 0)
		*out = run;
	return row;
}

int store_run_get(struct store *store, const char *job_id, int attempt,
		  struct arena *mem, struct run_record *out, struct error *err)
{
	store_lock(store);
	return store_end(store, run_get(store, job_id, attempt, mem, out, err),
			 err);
}

static int run_list(struct store *store, bool all_attempts, struct arena *mem,
		    struct run_list *out, struct error *err)
{
	struct run_list list = { 0 };
	struct run_record *items = NULL;
	size_t size = 0;
	sqlite3_stmt *stmt;
	int row;

	/* The ids follow the order of adding, the clock may not. */
	if (all_attempts)
		stmt = store_query(store, QUERY_RUN_LIST_ALL,
				   "SELECT " RUN_COLUMNS " FROM run"
				   " ORDER BY id DESC",
				   err);
	else
		stmt = store_query(store, QUERY_RUN_LIST,
				   "SELECT " RUN_COLUMNS " FROM run AS r"
				   " WHERE attempt = (SELECT max(attempt)"
				   " FROM run WHERE job_id = r.job_id)"
				   " ORDER BY id DESC",
				   err);
	if (!stmt)
		return -1;
	while ((row = store_step(store, stmt, err)) > 0) {
		if (list.count == size) {
			size = size ? size * 2 : 16;
			items = mem_grow(items, size, sizeof(*items));
		}
		row = read_run(stmt, mem, &items[list.count++], err);
		if (row < 0) {
			sqlite3_reset(stmt);
			break;
		}
	}
	if (row == 0) {
		list.items = arena_alloc(mem, list.count * sizeof(*items));
		if (list.count)
			memcpy(list.items, items, list.count * sizeof(*items));
		*out = list;
	}
	free(items);
	return row;
}

int store_run_list(struct store *store, bool all_attempts, struct arena *mem,
		   struct run_list *out, struct error *err)
{
	store_lock(store);
	return store_end(store, run_list(store, all_attempts, mem, out, err),
			 err);
}

int store_run_write(struct store *store, int64_t id,
		    const struct run_record *run, struct error *err)
{
	sqlite3_stmt *stmt = store_query(
		store, QUERY_RUN_PUT,
		"UPDATE run SET state = ?2, start_time_ms = ?3,"
		" end_time_ms = ?4, exit_code = ?5, error = ?6"
		" WHERE id = ?1 AND NOT " STORE_IS_FINAL,
		err);

	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, id);
	store_bind_text(stmt, 2, run_state_name(run->state));
	sqlite3_bind_int64(stmt, 3, run->start_time_ms);
	sqlite3_bind_int64(stmt, 4, run->end_time_ms);
	sqlite3_bind_int(stmt, 5, run->exit_code);
	store_bind_text(stmt, 6, run->error);
	return store_do(store, stmt, err);
}

int store_run_put(struct store *store, const struct run_record *run,
		  struct error *err)
{
	return store_progress_put(store, run, true, NULL, NULL, 0, err);
}

static int run_delete(struct store *store, const struct run_record *run,
		      struct error *err)
{
	int64_t id;
	int there = store_run_find(store, run->job_id, run->attempt, &id, err);

	if (there <= 0)
		return there;
	if (store_do_id(store, QUERY_TASK_DELETE,
			"DELETE FROM task WHERE run = ?1", id, err) < 0)
		return -1;
	return store_do_id(store, QUERY_RUN_DELETE,
			   "DELETE FROM run WHERE id = ?1", id, err);
}

int store_run_delete(struct store *store, const struct run_record *run,
		     struct error *err)
{
	char *folder;
	int ret;

	if (check_id(run->job_id, err) < 0)
		return -1;
	if (store->nowhere)
		return 0;
	/* The folder first: if this is killed half-way, the run can still be
	 * found and deleted again. */
	folder = store_run_folder(store, run->job_id, run->attempt);
	ret = folder_remove(folder, err);
	free(folder);
	if (ret < 0 || store_begin(store, err) < 0)
		return -1;
	return store_end(store, run_delete(store, run, err), err);
}
