/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Intents and what came of them: one row for each resource, the latest.  A
 * row without an outcome is an intent that nobody has finished.
 */
#include "core/store/store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/store/db.h"

#define INTENT_COLUMNS                                                         \
	"job_id, provider, kind, name, action_id, verb, digest, error, host,"  \
	" pid, time_ms"

static int replace(struct store *store, const struct intent_record *intent,
		   struct error *err)
{
	sqlite3_stmt *stmt = store_query(
		store, QUERY_INTENT_PUT,
		"INSERT OR REPLACE INTO journal (" INTENT_COLUMNS ")"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, NULL, ?8, ?9, ?10)",
		err);

	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, intent->job_id);
	store_bind_text(stmt, 2, intent->provider);
	store_bind_text(stmt, 3, intent->kind);
	store_bind_text(stmt, 4, intent->name);
	store_bind_text(stmt, 5, intent->action_id);
	store_bind_text(stmt, 6, intent->verb);
	store_bind_text(stmt, 7, intent->digest);
	store_bind_text(stmt, 8, store->host);
	sqlite3_bind_int64(stmt, 9, getpid());
	sqlite3_bind_int64(stmt, 10, time_now_ms());
	return store_do(store, stmt, err);
}

int store_intent_put(struct store *store, const struct intent_record *intent,
		     struct error *err)
{
	if (store_begin_durable(store, err) < 0)
		return -1;
	return store_end(store, replace(store, intent, err), err);
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
	store_bind_text(stmt, 1, intent->job_id);
	store_bind_text(stmt, 2, intent->provider);
	store_bind_text(stmt, 3, intent->kind);
	store_bind_text(stmt, 4, intent->name);
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
	return store_end(store,
			 end(store, intent, names[outcome], error, err), err);
}

static void read_intent(sqlite3_stmt *stmt, struct arena *mem,
			struct intent_record *out)
{
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
}

static int list(struct store *store, struct arena *mem,
		struct intent_list *out, struct error *err)
{
	struct intent_record *items = NULL;
	size_t count = 0, size = 0;
	sqlite3_stmt *stmt;
	int row;

	/* An old store on a disk that can't be written. */
	if (store->version < STORE_VERSION_JOURNAL) {
		*out = (struct intent_list){ 0 };
		return 0;
	}
	stmt = store_query(store, QUERY_INTENT_LIST,
			   "SELECT " INTENT_COLUMNS " FROM journal"
			   " WHERE outcome IS NULL ORDER BY id",
			   err);
	if (!stmt)
		return -1;
	while ((row = store_step(store, stmt, err)) > 0) {
		if (count == size) {
			size = size ? size * 2 : 16;
			items = mem_grow(items, size, sizeof(*items));
		}
		read_intent(stmt, mem, &items[count++]);
	}
	if (row == 0) {
		out->items = arena_alloc(mem, count * sizeof(*items));
		out->count = count;
		if (count)
			memcpy(out->items, items, count * sizeof(*items));
	}
	free(items);
	return row;
}

int store_intent_list(struct store *store, struct arena *mem,
		      struct intent_list *out, struct error *err)
{
	store_lock(store);
	return store_end(store, list(store, mem, out, err), err);
}
