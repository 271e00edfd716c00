/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internals of the store, for its own files only: one SQLite connection with
 * its cached statements, guarded by a mutex.
 *
 * A public call takes the lock with store_lock() or store_begin(), does its
 * work in a static function, and passes the result to store_end():
 *
 *	if (store_begin(store, err) < 0)
 *		return -1;
 *	return store_end(store, run_add(store, run, err), err);
 */
#ifndef JOBRUN_DB_H
#define JOBRUN_DB_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/store/store.h"

/* How long a call waits for the lock of another process. */
#define STORE_TIMEOUT_MS 10000

/* The first version with the journal's table. */
#define STORE_VERSION_JOURNAL 2
#define STORE_VERSION_APPLIED 5
#define STORE_VERSION_MEMBER 3
#define STORE_VERSION_TRIAL 4

/* run_state_is_final() in SQL. */
#define STORE_IS_FINAL "state IN ('SUCCEEDED', 'FAILED', 'CANCELLED')"

enum store_query {
	QUERY_BEGIN,
	QUERY_COMMIT,
	QUERY_ROLLBACK,
	QUERY_RUN_LAST,
	QUERY_RUN_ADD,
	QUERY_RUN_GET,
	QUERY_RUN_GET_LAST,
	QUERY_RUN_LIST,
	QUERY_RUN_LIST_ALL,
	QUERY_RUN_LIST_OPEN,
	QUERY_RUN_PUT,
	QUERY_RUN_FIND,
	QUERY_RUN_DELETE,
	QUERY_RUN_ORIGIN,
	QUERY_TASK_PUT,
	QUERY_TASK_LIST,
	QUERY_TASK_DELETE,
	QUERY_RUN_AFTER,
	QUERY_TRIAL_PUT,
	QUERY_TRIAL_LIST,
	QUERY_TRIAL_DELETE,
	QUERY_INTENT_PUT,
	QUERY_INTENT_ONCE,
	QUERY_INTENT_END,
	QUERY_INTENT_LIST,
	QUERY_INTENT_PLAN,
	QUERY_APPLIED_PUT,
	QUERY_APPLIED_DELETE,
	QUERY_APPLIED_LIST,
	QUERY_MEMBER_PUT,
	QUERY_MEMBER_LIST,
	QUERY_MEMBER_LIST_ALL,
	QUERY_MEMBER_DROP,
	QUERY_WAIT_PUT,
	QUERY_WAIT_DROP,
	QUERY_WAIT_MARK,
	QUERY_WAIT_LIST,
	QUERY_COUNT,
};

struct store {
	/* absolute, or "" for a store opened only for reading */
	char *folder;
	char *path;     /* of the database */
	char host[256]; /* this machine's name */
	sqlite3 *db;
	long version;      /* of the tables */
	bool has_digest2;  /* has the column, whatever its version */
	bool has_origin;   /* has job_origin and job_file */
	bool has_revision; /* has that column */
	bool has_open;     /* has the index of runs that have not ended */
	bool has_once;     /* of the journal */
	bool has_wait;     /* has that table */
	bool relaxed;      /* commits do not wait for the disk */
	bool durable;      /* the current commit does wait */
	char plan[65];     /* see store_name_plan(); or "" */
	/* in memory, as no store exists: never written */
	bool nowhere;
	int64_t busy_since_ms; /* see wait_for_lock() */
	pthread_mutex_t lock;
	sqlite3_stmt *queries[QUERY_COUNT]; /* NULL until first used */
};

/* Upgrades a database that was just opened to the newest version, or says why
 * that is impossible. */
int store_set_up(struct store *store, struct error *err);

/* Returns -1 with SQLite's last error. */
int store_fail(struct store *store, struct error *err);

void store_lock(struct store *store);
/* Locks the store and starts a write transaction. */
int store_begin(struct store *store, struct error *err);
/* The same; its commit waits until the data is on the disk. */
int store_begin_durable(struct store *store, struct error *err);
/* Commits, or rolls back if `ret` is negative; unlocks; returns `ret`, or -1 if
 * the commit failed. */
int store_end(struct store *store, int ret, struct error *err);

/* The statement, prepared when first used, with all parameters unbound.
 * Borrowed. */
sqlite3_stmt *store_query(struct store *store, enum store_query query,
			  const char *sql, struct error *err);
/* Returns 1: a row is ready; 0: done; -1: failed.  The last two reset the
 * statement. */
int store_step(struct store *store, sqlite3_stmt *stmt, struct error *err);
/* Runs a statement without rows. */
int store_do(struct store *store, sqlite3_stmt *stmt, struct error *err);

/* Reads the statement's current row into `item`, which is zeroed. */
typedef int store_read_fn(sqlite3_stmt *stmt, struct arena *mem, void *item,
			  struct error *err);
/* Reads all rows of a statement, `size` bytes each, into an array in `mem`.
 * Sets `items` and `count` only on success. */
int store_rows(struct store *store, sqlite3_stmt *stmt, store_read_fn *read,
	       size_t size, struct arena *mem, void *items, size_t *count,
	       struct error *err);

/* The caller owns the text, which must live until the step. */
void store_bind_text(sqlite3_stmt *stmt, int at, const char *text);
const char *store_column(sqlite3_stmt *stmt, int at, struct arena *mem);

/* Runs a statement without rows and with one parameter. */
int store_do_id(struct store *store, enum store_query query, const char *sql,
		int64_t id, struct error *err);

/* Find the row of a run.  store_run_find() returns 1 if it exists, else 0; for
 * store_run_id() a missing run is an error. */
int store_run_find(struct store *store, const char *job_id, int attempt,
		   int64_t *id, struct error *err);
int store_run_id(struct store *store, const char *job_id, int attempt,
		 int64_t *id, struct error *err);
/* The part of store_run_put() inside a transaction. */
int store_run_write(struct store *store, int64_t id,
		    const struct run_record *run, struct error *err);

/* store_progress_put() inside a transaction. */
int store_progress_write(struct store *store, const struct run_record *run,
			 bool with_run, const struct task_record *tasks,
			 const bool *changed, size_t count, struct error *err);

#endif
