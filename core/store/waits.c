/* SPDX-License-Identifier: Apache-2.0 */
/* Stores which jobs wait for others to end, and which were skipped. */
#include "core/base/clock.h"
#include "core/store/store.h"

#include <string.h>
#include <unistd.h>

#include "core/store/db.h"

/* Values of the column `skipped`; earlier versions know the first two, and take
 * the others for skipped. */
enum wait_mark {
	WAIT_WAITS = 0,
	WAIT_SKIPPED = 1,
	WAIT_CANCELLED = 2,
	WAIT_CLAIMED = 3,
};

static int put(struct store *store, const struct wait_record *wait,
	       struct error *err)
{
	sqlite3_stmt *stmt =
		store_query(store, QUERY_WAIT_PUT,
			    "INSERT OR REPLACE INTO wait (job_id, skipped, why,"
			    " host, pid, time_ms)"
			    " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
			    err);

	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, wait->job_id);
	sqlite3_bind_int(stmt, 2, wait->skipped ? WAIT_SKIPPED : WAIT_WAITS);
	store_bind_text(stmt, 3, wait->why);
	store_bind_text(stmt, 4, store->host);
	sqlite3_bind_int64(stmt, 5, getpid());
	sqlite3_bind_int64(stmt, 6, time_now_ms());
	return store_do(store, stmt, err);
}

int store_wait_put(struct store *store, const struct wait_record *wait,
		   struct error *err)
{
	if (store_begin(store, err) < 0)
		return -1;
	return store_end(store, put(store, wait, err), err);
}

static int drop(struct store *store, const char *job_id, struct error *err)
{
	sqlite3_stmt *stmt =
		store_query(store, QUERY_WAIT_DROP,
			    "DELETE FROM wait WHERE job_id = ?1", err);

	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, job_id);
	return store_do(store, stmt, err);
}

int store_wait_drop(struct store *store, const char *job_id, struct error *err)
{
	if (store_begin(store, err) < 0)
		return -1;
	return store_end(store, drop(store, job_id, err), err);
}

static int mark(struct store *store, const char *job_id, enum wait_mark as,
		const char *why, struct error *err)
{
	sqlite3_stmt *stmt =
		store_query(store, QUERY_WAIT_MARK,
			    "UPDATE wait SET skipped = ?2,"
			    " why = coalesce(?3, why)"
			    " WHERE job_id = ?1 AND skipped IN (0, ?2)",
			    err);

	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, job_id);
	sqlite3_bind_int(stmt, 2, (int)as);
	store_bind_text(stmt, 3, why);
	if (store_do(store, stmt, err) < 0)
		return -1;
	return sqlite3_changes(store->db) ? 0 : 1;
}

static int mark_alone(struct store *store, const char *job_id,
		      enum wait_mark as, const char *why, struct error *err)
{
	int ret, end;

	if (store_begin(store, err) < 0)
		return -1;
	ret = mark(store, job_id, as, why, err);
	end = store_end(store, ret < 0 ? -1 : 0, err);
	return end < 0 ? -1 : ret;
}

int store_wait_cancel(struct store *store, const char *job_id,
		      struct error *err)
{
	return mark_alone(store, job_id, WAIT_CANCELLED,
			  "cancelled before it started", err);
}

int store_wait_claim(struct store *store, const char *job_id, struct error *err)
{
	return mark_alone(store, job_id, WAIT_CLAIMED, NULL, err);
}

static int read_wait(sqlite3_stmt *stmt, struct arena *mem, void *item,
		     struct error *err)
{
	(void)err;
	*(struct wait_record *)item = (struct wait_record){
		.job_id = store_column(stmt, 0, mem),
		.skipped = sqlite3_column_int(stmt, 1) == WAIT_SKIPPED,
		.cancelled = sqlite3_column_int(stmt, 1) == WAIT_CANCELLED,
		.why = store_column(stmt, 2, mem),
		.host = store_column(stmt, 3, mem),
		.pid = sqlite3_column_int64(stmt, 4),
		.time_ms = sqlite3_column_int64(stmt, 5),
	};
	return 0;
}

static int list(struct store *store, struct arena *mem, struct wait_list *out,
		struct error *err)
{
	sqlite3_stmt *stmt;

	*out = (struct wait_list){ 0 };
	if (!store->has_wait)
		return 0;
	/* A run that somebody has started since says more. */
	stmt = store_query(store, QUERY_WAIT_LIST,
			   "SELECT job_id, skipped, why, host, pid, time_ms"
			   " FROM wait WHERE NOT EXISTS (SELECT 1 FROM run"
			   " WHERE run.job_id = wait.job_id"
			   " AND run.create_time_ms >= wait.time_ms)"
			   " ORDER BY time_ms, job_id",
			   err);
	if (!stmt)
		return -1;
	return store_rows(store, stmt, read_wait, sizeof(*out->items), mem,
			  &out->items, &out->count, err);
}

int store_wait_list(struct store *store, struct arena *mem,
		    struct wait_list *out, struct error *err)
{
	store_lock(store);
	return store_end(store, list(store, mem, out, err), err);
}
