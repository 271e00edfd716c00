/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of a store, and their folders. */
#include "core/base/clock.h"
#include "core/store/store.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/store/db.h"

#define RUN_COLUMNS                                                            \
	"job_id, attempt, provider, digest, state, create_time_ms,"            \
	" start_time_ms, end_time_ms, exit_code, error, host, properties"
#define CHAIN_COLUMNS "origin, restarts, preemptions, not_before_ms"

/* The id becomes the name of a folder, which may later be removed. */
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
	*attempt = sqlite3_column_int(stmt, 0); /* NULL gives 0 */
	sqlite3_reset(stmt);
	return 0;
}

/* Whether a killed add has left the folder: it is empty, or has only a free
 * lock. */
static bool is_bare(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	bool bare = folder;

	while (bare && (entry = readdir(folder)))
		bare = !strcmp(entry->d_name, ".") ||
		       !strcmp(entry->d_name, "..") ||
		       !strcmp(entry->d_name, STORE_RUN_LOCK);
	if (folder)
		closedir(folder);
	return bare;
}

/* Returns 1 if the folder exists and is not empty: logs of a run whose store
 * was lost, which must not be overwritten. */

static int make_folder(const char *path, struct error *err)
{
	if (mkdir(path, 0700) < 0) {
		if (errno != EEXIST)
			return error_errno(err, "cannot create directory '%s'",
					   path);
		if (!is_bare(path))
			return 1;
	}
	chmod(path, 0700);
	return 0;
}

static int insert(struct store *store, const struct run_record *run,
		  struct error *err)
{
	sqlite3_stmt *stmt = store_query(
		store, QUERY_RUN_ADD,
		"INSERT INTO run (" RUN_COLUMNS ", " CHAIN_COLUMNS ", digest2,"
		" job_origin, job_file, revision)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, 0, -1, NULL, ?7, ?8,"
		" ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
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
	sqlite3_bind_int(stmt, 9, run->origin);
	sqlite3_bind_int(stmt, 10, run->restarts);
	sqlite3_bind_int(stmt, 11, run->preemptions);
	sqlite3_bind_int64(stmt, 12, run->not_before_ms);
	store_bind_text(stmt, 13, run->digest2);
	store_bind_text(stmt, 14, run->job_origin);
	store_bind_text(stmt, 15, run->job_file);
	store_bind_text(stmt, 16, run->revision);
	return store_do(store, stmt, err);
}

/* Chooses the attempt and makes its folder. */
static int claim_attempt(struct store *store, struct run_record *run,
			 char **folder, struct error *err)
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
	return 0;
}

static int run_add(struct store *store, struct run_record *run, char **folder,
		   int (*prepare)(void *arg, const char *folder, int attempt,
				  struct error *err),
		   void *arg, struct error *err)
{
	if (claim_attempt(store, run, folder, err) < 0 ||
	    (prepare && prepare(arg, *folder, run->attempt, err) < 0))
		return -1;
	run->origin = run->attempt;
	return insert(store, run, err);
}

/* Sets the members that every new record has. */
static void reset(const struct store *store, struct run_record *run)
{
	run->state = RUN_QUEUED;
	run->create_time_ms = time_now_ms();
	run->start_time_ms = 0;
	run->end_time_ms = 0;
	run->exit_code = -1;
	run->error = NULL;
	run->host = store->host;
}

int store_run_add(struct store *store, struct run_record *run,
		  struct error *err)
{
	return store_run_add_with(store, run, NULL, NULL, err);
}

int store_run_add_with(struct store *store, struct run_record *run,
		       int (*prepare)(void *arg, const char *folder,
				      int attempt, struct error *err),
		       void *arg, struct error *err)
{
	struct run_record new = *run;
	struct error ignored;
	char *folder = NULL;
	int ret;

	if (check_id(run->job_id, err) < 0)
		return -1;
	reset(store, &new);
	if (run->create_time_ms)
		new.create_time_ms = run->create_time_ms;
	new.restarts = new.preemptions = 0;
	new.not_before_ms = 0;
	if (store_begin(store, err) < 0)
		return -1;
	ret = store_end(store, run_add(store, &new, &folder, prepare, arg, err),
			err);
	if (ret < 0 && folder)
		folder_remove(folder, &ignored);
	if (ret == 0)
		*run = new;
	free(folder);
	return ret;
}

int store_run_next(struct store *store, const struct run_record *ended,
		   const struct task_record *tasks, size_t count,
		   struct run_record *next,
		   int (*prepare)(void *arg, const char *folder, int attempt,
				  struct error *err),
		   void *arg, struct error *err)
{
	struct run_record new = *ended;
	bool *all = mem_alloc(count * sizeof(*all));
	struct error ignored;
	char *folder = NULL;
	int ret = -1;

	assert(run_state_is_final(ended->state));
	memset(all, true, count * sizeof(*all));
	reset(store, &new);
	new.restarts = next->restarts;
	new.preemptions = next->preemptions;
	new.not_before_ms = next->not_before_ms;
	if (store_begin(store, err) < 0)
		goto out;
	ret = store_progress_write(store, ended, true, NULL, NULL, 0, err);
	/* A final state stays: another process has recorded the end before. */
	if (ret == 0 && sqlite3_changes(store->db) == 0)
		ret = 1;
	if (ret == 0)
		ret = store_progress_write(store, ended, false, tasks, all,
					   count, err);
	if (ret == 0)
		ret = claim_attempt(store, &new, &folder, err);
	if (ret == 0)
		ret = prepare(arg, folder, new.attempt, err);
	if (ret == 0)
		ret = insert(store, &new, err);
	ret = store_end(store, ret, err);
	if (ret < 0 && folder)
		folder_remove(folder, &ignored);
	if (ret == 0)
		*next = new;
out:
	free(folder);
	free(all);
	return ret;
}

/* A query for whole records, with `tail` from WHERE on.  An older store that
 * can only be read lacks restarts. */
static sqlite3_stmt *query_runs(struct store *store, enum store_query query,
				const char *tail, struct error *err)
{
	char sql[512];

	snprintf(sql, sizeof(sql),
		 "SELECT " RUN_COLUMNS ", %s, %s, %s, %s FROM run AS r %s",
		 store->version < STORE_VERSION_TRIAL ? "attempt, 0, 0, 0"
						      : CHAIN_COLUMNS,
		 store->has_digest2 ? "digest2" : "NULL",
		 store->has_origin ? "job_origin, job_file" : "NULL, NULL",
		 store->has_revision ? "revision" : "NULL", tail);
	return store_query(store, query, sql, err);
}

static int read_run(sqlite3_stmt *stmt, struct arena *mem, void *item,
		    struct error *err)
{
	struct run_record *run = item;
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
	run->origin = sqlite3_column_int(stmt, 12);
	run->restarts = sqlite3_column_int(stmt, 13);
	run->preemptions = sqlite3_column_int(stmt, 14);
	run->not_before_ms = sqlite3_column_int64(stmt, 15);
	run->digest2 = store_column(stmt, 16, mem);
	run->job_origin = store_column(stmt, 17, mem);
	run->job_file = store_column(stmt, 18, mem);
	run->revision = store_column(stmt, 19, mem);
	if (run_state_parse(state, &run->state) < 0)
		return error_set(err, ERROR_FAILED,
				 "the store has job '%s' in a state '%s'",
				 run->job_id, state);
	return 0;
}

/* Reads the only row of a query, and resets the query; 1 if there is none. */
static int read_only_run(struct store *store, sqlite3_stmt *stmt,
			 struct arena *mem, struct run_record *out,
			 struct error *err)
{
	struct run_record run = { 0 }; /* some members are not stored */
	int row = store_step(store, stmt, err);

	if (row <= 0)
		return row < 0 ? -1 : 1;
	row = read_run(stmt, mem, &run, err);
	sqlite3_reset(stmt);
	if (row == 0)
		*out = run;
	return row;
}

static int run_get(struct store *store, const char *job_id, int attempt,
		   struct arena *mem, struct run_record *out, struct error *err)
{
	sqlite3_stmt *stmt;

	if (attempt)
		stmt = query_runs(store, QUERY_RUN_GET,
				  "WHERE job_id = ?1 AND attempt = ?2", err);
	else
		stmt = query_runs(
			store, QUERY_RUN_GET_LAST,
			"WHERE job_id = ?1 ORDER BY attempt DESC LIMIT 1", err);
	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, job_id);
	if (attempt)
		sqlite3_bind_int(stmt, 2, attempt);
	return read_only_run(store, stmt, mem, out, err);
}

static int run_after(struct store *store, const struct run_record *run,
		     struct arena *mem, struct run_record *out,
		     struct error *err)
{
	sqlite3_stmt *stmt;

	if (store->version < STORE_VERSION_TRIAL)
		return 1;
	stmt = query_runs(store, QUERY_RUN_AFTER,
			  "WHERE job_id = ?1 AND attempt > ?2 AND origin = ?3"
			  " ORDER BY attempt LIMIT 1",
			  err);
	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, run->job_id);
	sqlite3_bind_int(stmt, 2, run->attempt);
	sqlite3_bind_int(stmt, 3, run->origin);
	return read_only_run(store, stmt, mem, out, err);
}

int store_run_after(struct store *store, const struct run_record *run,
		    struct arena *mem, struct run_record *out,
		    struct error *err)
{
	store_lock(store);
	return store_end(store, run_after(store, run, mem, out, err), err);
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
	sqlite3_stmt *stmt;

	/* Ids follow the order of insertion, which the clock may not. */
	if (all_attempts)
		stmt = query_runs(store, QUERY_RUN_LIST_ALL, "ORDER BY id DESC",
				  err);
	else
		stmt = query_runs(store, QUERY_RUN_LIST,
				  "WHERE attempt = (SELECT max(attempt)"
				  " FROM run WHERE job_id = r.job_id)"
				  " ORDER BY id DESC",
				  err);
	if (!stmt)
		return -1;
	return store_rows(store, stmt, read_run, sizeof(*out->items), mem,
			  &out->items, &out->count, err);
}

int store_run_list(struct store *store, bool all_attempts, struct arena *mem,
		   struct run_list *out, struct error *err)
{
	store_lock(store);
	return store_end(store, run_list(store, all_attempts, mem, out, err),
			 err);
}

static int run_list_open(struct store *store, const char *provider,
			 struct arena *mem, struct run_list *out,
			 struct error *err)
{
	sqlite3_stmt *stmt =
		query_runs(store, QUERY_RUN_LIST_OPEN,
			   "WHERE provider = ?1"
			   " AND NOT " STORE_IS_FINAL " ORDER BY id DESC",
			   err);

	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, provider);
	return store_rows(store, stmt, read_run, sizeof(*out->items), mem,
			  &out->items, &out->count, err);
}

int store_run_list_open(struct store *store, const char *provider,
			struct arena *mem, struct run_list *out,
			struct error *err)
{
	store_lock(store);
	return store_end(store, run_list_open(store, provider, mem, out, err),
			 err);
}

int store_run_write(struct store *store, int64_t id,
		    const struct run_record *run, struct error *err)
{
	sqlite3_stmt *stmt =
		store_query(store, QUERY_RUN_PUT,
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

int store_run_put_all(struct store *store, const struct run_record *const *runs,
		      size_t count, struct error *err)
{
	size_t i;
	int ret = 0;

	if (store_begin(store, err) < 0)
		return -1;
	for (i = 0; ret == 0 && i < count; i++)
		ret = store_progress_write(store, runs[i], true, NULL, NULL, 0,
					   err);
	return store_end(store, ret, err);
}

static int put_origin(struct store *store, const struct run_record *run,
		      const char *origin, struct error *err)
{
	sqlite3_stmt *stmt = store_query(store, QUERY_RUN_ORIGIN,
					 "UPDATE run SET job_origin = ?3"
					 " WHERE job_id = ?1 AND origin = ?2",
					 err);

	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, run->job_id);
	sqlite3_bind_int(stmt, 2, run->origin);
	store_bind_text(stmt, 3, origin);
	return store_do(store, stmt, err);
}

int store_run_put_origin(struct store *store, const struct run_record *run,
			 const char *origin, struct error *err)
{
	if (store_begin(store, err) < 0)
		return -1;
	return store_end(store, put_origin(store, run, origin, err), err);
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
	if (store_do_id(store, QUERY_TRIAL_DELETE,
			"DELETE FROM trial WHERE run = ?1", id, err) < 0)
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
	/* Remove the folder first: if this is killed half-way, the run can
	 * still be found and deleted again. */
	folder = store_run_folder(store, run->job_id, run->attempt);
	ret = folder_remove(folder, err);
	free(folder);
	if (ret < 0 || store_begin(store, err) < 0)
		return -1;
	return store_end(store, run_delete(store, run, err), err);
}
