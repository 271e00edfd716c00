/* SPDX-License-Identifier: Apache-2.0 */
/* The trials of the runs in a store. */
#include "core/store/store.h"

#include <math.h>
#include <string.h>

#include "core/store/db.h"

static int trial_put(struct store *store, const struct run_record *run,
		     const struct trial_record *trial, struct error *err)
{
	sqlite3_stmt *stmt;
	int64_t id;

	if (store_run_id(store, run->job_id, run->attempt, &id, err) < 0)
		return -1;
	stmt = store_query(
		store, QUERY_TRIAL_PUT,
		"INSERT INTO trial (run, number, state, parameters, value,"
		" step, early, start_time_ms, end_time_ms, exit_code, error)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
		" ON CONFLICT (run, number) DO UPDATE SET"
		" state = ?3, parameters = ?4, value = ?5, step = ?6,"
		" early = ?7, start_time_ms = ?8, end_time_ms = ?9,"
		" exit_code = ?10, error = ?11",
		err);
	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, id);
	sqlite3_bind_int(stmt, 2, trial->number);
	store_bind_text(stmt, 3, run_state_name(trial->state));
	store_bind_text(stmt, 4, trial->parameters);
	/* SQLite itself stores NaN as NULL. */
	sqlite3_bind_double(stmt, 5, trial->value);
	if (trial->step >= 0)
		sqlite3_bind_int64(stmt, 6, trial->step);
	sqlite3_bind_int(stmt, 7, trial->early);
	sqlite3_bind_int64(stmt, 8, trial->start_time_ms);
	sqlite3_bind_int64(stmt, 9, trial->end_time_ms);
	sqlite3_bind_int(stmt, 10, trial->exit_code);
	store_bind_text(stmt, 11, trial->error);
	return store_do(store, stmt, err);
}

int store_trial_put(struct store *store, const struct run_record *run,
		    const struct trial_record *trial, struct error *err)
{
	if (store_begin(store, err) < 0)
		return -1;
	return store_end(store, trial_put(store, run, trial, err), err);
}

static int read_trial(sqlite3_stmt *stmt, struct arena *mem, void *item,
		      struct error *err)
{
	struct trial_record *trial = item;
	const char *state = store_column(stmt, 1, mem);

	trial->number = sqlite3_column_int(stmt, 0);
	trial->parameters = store_column(stmt, 2, mem);
	trial->value = sqlite3_column_type(stmt, 3) == SQLITE_NULL
			       ? NAN
			       : sqlite3_column_double(stmt, 3);
	trial->step = sqlite3_column_type(stmt, 4) == SQLITE_NULL
			      ? -1
			      : sqlite3_column_int64(stmt, 4);
	trial->early = sqlite3_column_int(stmt, 5);
	trial->start_time_ms = sqlite3_column_int64(stmt, 6);
	trial->end_time_ms = sqlite3_column_int64(stmt, 7);
	trial->exit_code = sqlite3_column_int(stmt, 8);
	trial->error = store_column(stmt, 9, mem);
	if (run_state_parse(state, &trial->state) < 0)
		return error_set(err, ERROR_FAILED,
				 "the store has trial %d in a state '%s'",
				 trial->number, state);
	return 0;
}

static int trial_list(struct store *store, const struct run_record *run,
		      struct arena *mem, struct trial_list *out,
		      struct error *err)
{
	sqlite3_stmt *stmt;

	if (store->version < STORE_VERSION_TRIAL) {
		*out = (struct trial_list){ 0 };
		return 0;
	}
	stmt = store_query(
		store, QUERY_TRIAL_LIST,
		"SELECT number, trial.state, parameters, value, step, early,"
		" trial.start_time_ms, trial.end_time_ms, trial.exit_code,"
		" trial.error FROM trial JOIN run ON trial.run = run.id"
		" WHERE job_id = ?1 AND attempt = ?2 ORDER BY number",
		err);
	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, run->job_id);
	sqlite3_bind_int(stmt, 2, run->attempt);
	return store_rows(store, stmt, read_trial, sizeof(*out->items), mem,
			  &out->items, &out->count, err);
}

int store_trial_list(struct store *store, const struct run_record *run,
		     struct arena *mem, struct trial_list *out,
		     struct error *err)
{
	store_lock(store);
	return store_end(store, trial_list(store, run, mem, out, err), err);
}
