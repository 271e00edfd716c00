/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the store, for its own files only: one SQLite connection
 * with its cached statements behind a mutex.
 *
 * A public call takes the lock with store_lock() or store_begin(), does its
 * work in a static function, and gives the result to store_end():
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
#define STORE_TIMEOUT_MS 5000

/* The first version with that table. */
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
	QUERY_COUNT,
};

struct store {
	char *folder;   /* absolute, or "" for a store that is only looked at */
	char *path;     /* of the database */
	char host[256]; /* this machine's name */
	sqlite3 *db;
	long version;          /* of its tables */
	bool has_digest2;      /* the column, in one of any version */
	bool has_origin;       /* job_origin and job_file, too */
	bool has_revision;     /* and that column */
	bool has_open;         /* and the index of runs that have not ended */
	bool has_once;         /* of the journal */
	bool relaxed;          /* commits do not wait for the disk */
	bool durable;          /* but the one under way does */
	char plan[65];         /* see store_name_plan(); or "" */
	bool nowhere;          /* in memory, for there is none: not written */
	int64_t busy_since_ms; /* see wait_for_lock() */
	pthread_mutex_t lock;
	sqlite3_stmt *queries[QUERY_COUNT]; /* NULL until first used */
};

/* Brings a database that was just opened to the newest version, or says why
 * that can't be. */
int store_set_up(struct store *store, struct error *err);

/* Returns -1 with what SQLite failed on. */
int store_fail(struct store *store, struct error *err);

void store_lock(struct store *store);
/* Locks, and starts a transaction that writes. */
int store_begin(struct store *store, struct error *err);
/* The same, and its commit waits until the disk has it. */
int store_begin_durable(struct store *store, struct error *err);
/* Commits, or rolls back if `ret` is negative; unlocks; returns `ret`, or -1
 * if the commit failed. */
int store_end(struct store *store, int ret, struct error *err);

/* The statement, prepared at its first use and without bound values since
 * the last.  Borrowed. */
sqlite3_stmt *store_query(struct store *store, enum store_query query,
			  const char *sql, struct error *err);
/* 1: there is a row.  0: done, -1: failed; both reset the statement. */
int store_step(struct store *store, sqlite3_stmt *stmt, struct error *err);
/* For a statement without rows. */
int store_do(struct store *store, sqlite3_stmt *stmt, struct error *err);

/* Reads the row that a statement stands at into `item`, which is zeroed. */
typedef int store_read_fn(sqlite3_stmt *stmt, struct arena *mem, void *item,
			  struct error *err);
/* All rows of a statement, `size` bytes each, as an array in `mem`.  `items`
 * and `count` are set only if that went well. */
int store_rows(struct store *store, sqlite3_stmt *stmt, store_read_fn *read,
	       size_t size, struct arena *mem, void *items, size_t *count,
	       struct error *err);

/* Text stays the caller's and must live until the step. */
void store_bind_text(sqlite3_stmt *stmt, int at, const char *text);
const char *store_column(sqlite3_stmt *stmt, int at, struct arena *mem);

/* For a statement without rows and with one parameter. */
int store_do_id(struct store *store, enum store_query query, const char *sql,
		int64_t id, struct error *err);

/* The row of a run.  store_run_find returns 1 if there is one, or 0; to
 * store_run_id none is an error. */
int store_run_find(struct store *store, const char *job_id, int attempt,
		   int64_t *id, struct error *err);
int store_run_id(struct store *store, const char *job_id, int attempt,
		 int64_t *id, struct error *err);
/* The part of store_run_put() within a transaction. */
int store_run_write(struct store *store, int64_t id,
		    const struct run_record *run, struct error *err);

/* store_progress_put() within a transaction. */
int store_progress_write(struct store *store, const struct run_record *run,
			 bool with_run, const struct task_record *tasks,
			 const bool *changed, size_t count, struct error *err);

#endif
