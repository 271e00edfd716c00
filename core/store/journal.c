/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intents and their outcomes: one row for each resource, the latest.  A row
 * without an outcome is an intent that nobody has finished.
 */
#include "core/base/clock.h"
#include "core/store/store.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/store/db.h"

#define INTENT_COLUMNS                                                         \
	"job_id, provider, kind, name, action_id, verb, digest, error, host,"  \
	" pid, time_ms"

/* The first four parameters of every statement here. */
static void bind_resource(sqlite3_stmt *stmt,
			  const struct intent_record *intent)
{
	store_bind_text(stmt, 1, intent->job_id);
	store_bind_text(stmt, 2, intent->provider);
	store_bind_text(stmt, 3, intent->kind);
	store_bind_text(stmt, 4, intent->name);
}

static int replace(struct store *store, const struct intent_record *intent,
		   struct error *err)
{
	sqlite3_stmt *stmt = store_query(
		store, QUERY_INTENT_PUT,
		"INSERT OR REPLACE INTO journal (" INTENT_COLUMNS ", plan,"
		" once) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, NULL, ?8, ?9, ?10,"
		" ?11, coalesce((SELECT once FROM journal WHERE job_id = ?1"
		" AND provider = ?2 AND kind = ?3 AND name = ?4"
		" AND verb = ?6 AND digest IS ?7 AND outcome IS NULL),"
		" lower(hex(randomblob(16)))))",
		err);

	if (!stmt)
		return -1;
	bind_resource(stmt, intent);
	store_bind_text(stmt, 5, intent->action_id);
	store_bind_text(stmt, 6, intent->verb);
	store_bind_text(stmt, 7, intent->digest);
	store_bind_text(stmt, 8, store->host);
	sqlite3_bind_int64(stmt, 9, getpid());
	sqlite3_bind_int64(stmt, 10, time_now_ms());
	store_bind_text(stmt, 11, store->plan[0] ? store->plan : NULL);
	return store_do(store, stmt, err);
}

void store_name_plan(struct store *store, const char *plan)
{
	snprintf(store->plan, sizeof(store->plan), "%s", plan);
}

static int forget_applied(struct store *store,
			  const struct intent_record *intent, struct error *err)
{
	sqlite3_stmt *stmt = store_query(
		store, QUERY_APPLIED_DELETE,
		"DELETE FROM applied WHERE job_id = ?1 AND provider = ?2"
		" AND kind = ?3 AND name = ?4",
		err);

	if (!stmt)
		return -1;
	bind_resource(stmt, intent);
	return store_do(store, stmt, err);
}

static int read_once(struct store *store, const struct intent_record *intent,
		     char once[INTENT_ONCE_MAX], struct error *err)
{
	sqlite3_stmt *stmt = store_query(
		store, QUERY_INTENT_ONCE,
		"SELECT once FROM journal WHERE job_id = ?1 AND provider = ?2"
		" AND kind = ?3 AND name = ?4",
		err);
	int ret;

	if (!stmt)
		return -1;
	bind_resource(stmt, intent);
	ret = store_step(store, stmt, err);
	if (ret > 0)
		snprintf(once, INTENT_ONCE_MAX, "%s",
			 (const char *)sqlite3_column_text(stmt, 0));
	/* Its key has one row. */
	return ret > 0 ? store_step(store, stmt, err) : -1;
}

static int put(struct store *store, const struct intent_record *intent,
	       char once[INTENT_ONCE_MAX], struct error *err)
{
	return replace(store, intent, err) < 0 ||
			       read_once(store, intent, once, err) < 0
		       ? -1
		       : forget_applied(store, intent, err);
}

int store_intent_put(struct store *store, const struct intent_record *intent,
		     char once[INTENT_ONCE_MAX], struct error *err)
{
	if (store_begin_durable(store, err) < 0)
		return -1;
	return store_end(store, put(store, intent, once, err), err);
}

static int end(struct store *store, const struct intent_record *intent,
	       const char *outcome, const char *error, struct error *err)
{
	sqlite3_stmt *stmt = store_query(
		store, QUERY_INTENT_END,
		"UPDATE journal SET outcome = ?5, error = ?6, end_time_ms = ?7"
		" WHERE job_id = ?1 AND provider = ?2 AND kind = ?3"
		" AND name = ?4 AND outcome IS NULL",
		err);

	if (!stmt)
		return -1;
	bind_resource(stmt, intent);
	store_bind_text(stmt, 5, outcome);
	store_bind_text(stmt, 6, error);
	if (outcome)
		sqlite3_bind_int64(stmt, 7, time_now_ms());
	return store_do(store, stmt, err);
}

int store_intent_end(struct store *store, const struct intent_record *intent,
		     enum intent_outcome outcome, const char *error,
		     struct error *err)
{
	static const char *const names[] = { [INTENT_UNKNOWN] = NULL,
					     [INTENT_DONE] = "done",
					     [INTENT_FAILED] = "failed" };

	if (store_begin(store, err) < 0)
		return -1;
	return store_end(store, end(store, intent, names[outcome], error, err),
			 err);
}

/* Reads a row of INTENT_COLUMNS. */
static int read_intent(sqlite3_stmt *stmt, struct arena *mem, void *item,
		       struct error *err)
{
	struct intent_record *out = item;

	(void)err;
	out->job_id = store_column(stmt, 0, mem);
	out->provider = store_column(stmt, 1, mem);
	out->kind = store_column(stmt, 2, mem);
	out->name = store_column(stmt, 3, mem);
	out->action_id = store_column(stmt, 4, mem);
	out->verb = store_column(stmt, 5, mem);
	out->digest = store_column(stmt, 6, mem);
	out->error = store_column(stmt, 7, mem);
	out->host = store_column(stmt, 8, mem);
	out->pid = sqlite3_column_int64(stmt, 9);
	out->time_ms = sqlite3_column_int64(stmt, 10);
	return 0;
}

/* Reads the plan and the outcome, too. */
static int read_outcome(sqlite3_stmt *stmt, struct arena *mem, void *item,
			struct error *err)
{
	struct intent_record *out = item;

	out->plan = store_column(stmt, 11, mem);
	out->outcome = store_column(stmt, 12, mem);
	return read_intent(stmt, mem, item, err);
}

static int list(struct store *store, struct arena *mem, struct intent_list *out,
		struct error *err)
{
	sqlite3_stmt *stmt;

	/* An older store on a disk that can't be written. */
	*out = (struct intent_list){ 0 };
	if (store->version < STORE_VERSION_JOURNAL)
		return 0;
	stmt = store_query(store, QUERY_INTENT_LIST,
			   "SELECT " INTENT_COLUMNS " FROM journal"
			   " WHERE outcome IS NULL ORDER BY id",
			   err);
	if (!stmt)
		return -1;
	return store_rows(store, stmt, read_intent, sizeof(*out->items), mem,
			  &out->items, &out->count, err);
}

int store_intent_list(struct store *store, struct arena *mem,
		      struct intent_list *out, struct error *err)
{
	store_lock(store);
	return store_end(store, list(store, mem, out, err), err);
}

static int list_of_plan(struct store *store, const char *plan,
			struct arena *mem, struct intent_list *out,
			struct error *err)
{
	sqlite3_stmt *stmt;

	*out = (struct intent_list){ 0 };
	if (store->version < STORE_VERSION_APPLIED)
		return 0;
	stmt = store_query(store, QUERY_INTENT_PLAN,
			   "SELECT " INTENT_COLUMNS
			   ", plan, outcome FROM journal"
			   " WHERE plan = ?1 ORDER BY id",
			   err);
	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, plan);
	return store_rows(store, stmt, read_outcome, sizeof(*out->items), mem,
			  &out->items, &out->count, err);
}

int store_intent_of_plan(struct store *store, const char *plan,
			 struct arena *mem, struct intent_list *out,
			 struct error *err)
{
	store_lock(store);
	return store_end(store, list_of_plan(store, plan, mem, out, err), err);
}
