/* SPDX-License-Identifier: Apache-2.0 */
/* The connection of a store: errors, transactions, cached statements. */
#include "core/store/db.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* SQLite allocates with mem_alloc(), as no caller could go on without
 * memory. */
static void *memory_new(int size)
{
	return mem_grow(NULL, (size_t)size, 1);
}

static void *memory_grow(void *old, int size)
{
	return mem_grow(old, (size_t)size, 1);
}

static int memory_size(void *memory)
{
	return (int)malloc_usable_size(memory);
}

static int memory_round(int size)
{
	return (size + 7) & ~7;
}

static int memory_open(void *arg)
{
	(void)arg;
	return SQLITE_OK;
}

static void memory_close(void *arg)
{
	(void)arg;
}

void store_init(void)
{
	static const struct sqlite3_mem_methods memory = {
		.xMalloc = memory_new,
		.xFree = free,
		.xRealloc = memory_grow,
		.xSize = memory_size,
		.xRoundup = memory_round,
		.xInit = memory_open,
		.xShutdown = memory_close,
	};

	sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
}

/* The errno if the disk rather than the database is at fault, or 0. */
static int disk_errno(struct store *store, int code)
{
	int saved;

	if (code == SQLITE_FULL)
		return ENOSPC;
	if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY &&
	    code != SQLITE_PERM && code != SQLITE_IOERR)
		return 0;
	saved = sqlite3_system_errno(store->db);
	if (saved == ENOSPC || saved == EDQUOT || code == SQLITE_IOERR)
		return saved;
	/* The database can often be opened though its folder can't be
	 * written. */
	if (access(store->folder, W_OK) < 0 || access(store->path, W_OK) < 0)
		return errno;
	return saved ? saved : EACCES;
}

int store_fail(struct store *store, struct error *err)
{
	int code = sqlite3_extended_errcode(store->db) & 0xff;
	int disk = disk_errno(store, code);

	switch (code) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
		return error_set(err, ERROR_TRY_AGAIN,
				 "the store '%s' is locked by another process",
				 store->path);
	case SQLITE_NOTADB:
		return error_set(err, ERROR_FAILED,
				 "'%s' is not a database: move it away, or "
				 "set JOBRUN_STATE_DIR to another directory",
				 store->path);
	case SQLITE_CORRUPT:
		return error_set(err, ERROR_FAILED,
				 "the store '%s' is damaged (%s): move it "
				 "away, the logs beside it stay",
				 store->path, sqlite3_errmsg(store->db));
	default:
		break;
	}
	if (disk == ENOSPC || disk == EDQUOT)
		return error_set(err, ERROR_FAILED, "cannot write '%s': %s",
				 store->path, strerror(disk));
	if (disk && code != SQLITE_IOERR)
		return error_set(err, ERROR_DENIED,
				 "cannot write to the state directory '%s': "
				 "%s; set JOBRUN_STATE_DIR to use another",
				 store->folder, strerror(disk));
	return error_set(err, ERROR_FAILED, "the store '%s' failed: %s%s%s",
			 store->path, sqlite3_errmsg(store->db),
			 disk ? ": " : "", disk ? strerror(disk) : "");
}

void store_lock(struct store *store)
{
	pthread_mutex_lock(&store->lock);
}

static int simple(struct store *store, enum store_query query, const char *sql,
		  struct error *err)
{
	sqlite3_stmt *stmt = store_query(store, query, sql, err);

	return stmt ? store_do(store, stmt, err) : -1;
}

static int no_store(struct error *err)
{
	return error_set(err, ERROR_FAILED, "no store to write to");
}

static int begin(struct store *store, struct error *err)
{
	return simple(store, QUERY_BEGIN, "BEGIN IMMEDIATE", err);
}

int store_begin(struct store *store, struct error *err)
{
	if (store->nowhere)
		return no_store(err);
	store_lock(store);
	if (begin(store, err) < 0) {
		pthread_mutex_unlock(&store->lock);
		return -1;
	}
	return 0;
}

/* To be called outside a transaction. */
static int set_durable(struct store *store, bool durable, struct error *err)
{
	if (!store->relaxed)
		return 0;
	if (sqlite3_exec(store->db,
			 durable ? "PRAGMA synchronous = FULL"
				 : "PRAGMA synchronous = NORMAL",
			 NULL, NULL, NULL))
		return store_fail(store, err);
	store->durable = durable;
	return 0;
}

int store_begin_durable(struct store *store, struct error *err)
{
	struct error ignored;

	if (store->nowhere)
		return no_store(err);
	store_lock(store);
	if (set_durable(store, true, err) == 0 && begin(store, err) == 0)
		return 0;
	set_durable(store, false, &ignored);
	pthread_mutex_unlock(&store->lock);
	return -1;
}

int store_end(struct store *store, int ret, struct error *err)
{
	struct error ignored;

	/* With a full disk SQLite may have rolled back already. */
	if (!sqlite3_get_autocommit(store->db)) {
		if (ret >= 0 && simple(store, QUERY_COMMIT, "COMMIT", err) < 0)
			ret = -1;
		if (ret < 0 && !sqlite3_get_autocommit(store->db))
			simple(store, QUERY_ROLLBACK, "ROLLBACK", &ignored);
	}
	if (store->durable)
		set_durable(store, false, &ignored);
	pthread_mutex_unlock(&store->lock);
	return ret;
}

sqlite3_stmt *store_query(struct store *store, enum store_query query,
			  const char *sql, struct error *err)
{
	sqlite3_stmt **stmt = &store->queries[query];

	if (store->nowhere)
		sql = "SELECT NULL WHERE FALSE";
	if (*stmt) {
		sqlite3_reset(*stmt);
		sqlite3_clear_bindings(*stmt);
	} else if (sqlite3_prepare_v3(store->db, sql, -1,
				      SQLITE_PREPARE_PERSISTENT, stmt, NULL)) {
		store_fail(store, err);
		return NULL;
	}
	return *stmt;
}

int store_step(struct store *store, sqlite3_stmt *stmt, struct error *err)
{
	int code = sqlite3_step(stmt);

	if (code == SQLITE_ROW)
		return 1;
	if (code != SQLITE_DONE)
		store_fail(store, err);
	sqlite3_reset(stmt);
	return code == SQLITE_DONE ? 0 : -1;
}

int store_do(struct store *store, sqlite3_stmt *stmt, struct error *err)
{
	int row;

	do {
		row = store_step(store, stmt, err);
	} while (row > 0);
	return row;
}

void store_bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
	sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC);
}

const char *store_column(sqlite3_stmt *stmt, int at, struct arena *mem)
{
	const char *text = (const char *)sqlite3_column_text(stmt, at);

	return text ? arena_strdup(mem, text) : NULL;
}

int store_rows(struct store *store, sqlite3_stmt *stmt, store_read_fn *read,
	       size_t size, struct arena *mem, void *items, size_t *count,
	       struct error *err)
{
	char *found = NULL;
	size_t n = 0, room = 0;
	int row;

	while ((row = store_step(store, stmt, err)) > 0) {
		if (n == room) {
			room = room ? room * 2 : 16;
			found = mem_grow(found, room, size);
		}
		memset(found + n * size, 0, size);
		if (read(stmt, mem, found + n++ * size, err) < 0) {
			sqlite3_reset(stmt);
			row = -1;
			break;
		}
	}
	if (row == 0) {
		void *kept = arena_alloc(mem, n * size);

		if (n)
			memcpy(kept, found, n * size);
		memcpy(items, &kept, sizeof(kept));
		*count = n;
	}
	free(found);
	return row;
}

int store_do_id(struct store *store, enum store_query query, const char *sql,
		int64_t id, struct error *err)
{
	sqlite3_stmt *stmt = store_query(store, query, sql, err);

	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, id);
	return store_do(store, stmt, err);
}

int store_run_find(struct store *store, const char *job_id, int attempt,
		   int64_t *id, struct error *err)
{
	sqlite3_stmt *stmt = store_query(store, QUERY_RUN_FIND,
					 "SELECT id FROM run WHERE job_id = ?1"
					 " AND attempt = ?2",
					 err);
	int row;

	if (!stmt)
		return -1;
	store_bind_text(stmt, 1, job_id);
	sqlite3_bind_int(stmt, 2, attempt);
	row = store_step(store, stmt, err);
	if (row <= 0)
		return row;
	*id = sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	return 1;
}

int store_run_id(struct store *store, const char *job_id, int attempt,
		 int64_t *id, struct error *err)
{
	int there = store_run_find(store, job_id, attempt, id, err);

	if (there < 0)
		return -1;
	if (!there)
		return error_set(err, ERROR_FAILED,
				 "the store has no run %d of job '%s'", attempt,
				 job_id);
	return 0;
}
