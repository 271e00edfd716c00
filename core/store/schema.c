/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the store, and how a database is upgraded. */
#include "core/base/clock.h"
#include "core/store/db.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <time.h>

#define RETRY_MS 5

/* migrations[i] upgrades from version i to i + 1: add, never change.  States
 * are stored as names, so that people can query the database too. */
static const char *const migrations[] = {
	"CREATE TABLE run ("
	" id INTEGER PRIMARY KEY,"
	" job_id TEXT NOT NULL,"
	" attempt INTEGER NOT NULL,"
	" provider TEXT NOT NULL,"
	" digest TEXT NOT NULL,"
	" state TEXT NOT NULL,"
	" create_time_ms INTEGER NOT NULL,"
	" start_time_ms INTEGER NOT NULL,"
	" end_time_ms INTEGER NOT NULL,"
	" exit_code INTEGER NOT NULL,"
	" error TEXT,"
	" host TEXT NOT NULL,"
	" properties TEXT,"
	" UNIQUE (job_id, attempt));"
	"CREATE TABLE task ("
	" id INTEGER PRIMARY KEY,"
	" run INTEGER NOT NULL,"
	" type TEXT NOT NULL,"
	" idx INTEGER NOT NULL,"
	" state TEXT NOT NULL,"
	" exit_code INTEGER NOT NULL,"
	" signal INTEGER NOT NULL,"
	" host TEXT,"
	" pid INTEGER NOT NULL,"
	" start_time_ms INTEGER NOT NULL,"
	" end_time_ms INTEGER NOT NULL,"
	" lost_bytes INTEGER NOT NULL,"
	" UNIQUE (run, type, idx));",
	/* An intent has no outcome; at most one row for each resource. */
	"CREATE TABLE journal ("
	" id INTEGER PRIMARY KEY,"
	" job_id TEXT NOT NULL,"
	" provider TEXT NOT NULL,"
	" kind TEXT NOT NULL,"
	" name TEXT NOT NULL,"
	" action_id TEXT NOT NULL,"
	" verb TEXT NOT NULL,"
	" digest TEXT NOT NULL,"
	" outcome TEXT,"
	" error TEXT,"
	" host TEXT NOT NULL,"
	" pid INTEGER NOT NULL,"
	" time_ms INTEGER NOT NULL,"
	" end_time_ms INTEGER,"
	" UNIQUE (job_id, provider, kind, name));"
	"CREATE INDEX journal_open ON journal (id) WHERE outcome IS NULL;",
	"CREATE TABLE member ("
	" id INTEGER PRIMARY KEY,"
	" applyset TEXT NOT NULL,"
	" job_id TEXT NOT NULL,"
	" provider TEXT NOT NULL,"
	" file TEXT,"
	" place TEXT,"
	" UNIQUE (job_id, provider, applyset));"
	"CREATE INDEX member_applyset ON member (applyset);",
	/* A run may take several attempts: `origin` is its first attempt. */
	"ALTER TABLE run ADD COLUMN origin INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE run ADD COLUMN restarts INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE run ADD COLUMN preemptions INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE run ADD COLUMN not_before_ms INTEGER NOT NULL DEFAULT 0;"
	"UPDATE run SET origin = attempt;"
	/* A run may have trials, each with its own tasks. */
	"CREATE TABLE trial ("
	" id INTEGER PRIMARY KEY,"
	" run INTEGER NOT NULL,"
	" number INTEGER NOT NULL,"
	" state TEXT NOT NULL,"
	" parameters TEXT NOT NULL,"
	" value REAL,"
	" step INTEGER,"
	" early INTEGER NOT NULL,"
	" start_time_ms INTEGER NOT NULL,"
	" end_time_ms INTEGER NOT NULL,"
	" exit_code INTEGER NOT NULL,"
	" error TEXT,"
	" UNIQUE (run, number));"
	"CREATE TABLE task_of_run ("
	" id INTEGER PRIMARY KEY,"
	" run INTEGER NOT NULL,"
	" trial INTEGER NOT NULL,"
	" type TEXT NOT NULL,"
	" idx INTEGER NOT NULL,"
	" state TEXT NOT NULL,"
	" exit_code INTEGER NOT NULL,"
	" signal INTEGER NOT NULL,"
	" host TEXT,"
	" pid INTEGER NOT NULL,"
	" start_time_ms INTEGER NOT NULL,"
	" end_time_ms INTEGER NOT NULL,"
	" lost_bytes INTEGER NOT NULL,"
	" UNIQUE (run, trial, type, idx));"
	"INSERT INTO task_of_run SELECT id, run, 0, type, idx, state,"
	" exit_code, signal, host, pid, start_time_ms, end_time_ms, lost_bytes"
	" FROM task;"
	"DROP TABLE task;"
	"ALTER TABLE task_of_run RENAME TO task;",
	/* The properties with which a resource was last made, and the saved
	 * plan of an intent. */
	"CREATE TABLE applied ("
	" job_id TEXT NOT NULL,"
	" provider TEXT NOT NULL,"
	" kind TEXT NOT NULL,"
	" name TEXT NOT NULL,"
	" properties TEXT NOT NULL,"
	" time_ms INTEGER NOT NULL,"
	" PRIMARY KEY (job_id, provider, kind, name)) WITHOUT ROWID;"
	"ALTER TABLE journal ADD COLUMN plan TEXT;"
	"CREATE INDEX journal_plan ON journal (plan) WHERE plan IS NOT NULL;",
};

#define COLUMN(table, name)                                                    \
	"SELECT count(*) FROM pragma_table_info('" table "')"                  \
	" WHERE name = '" name "'"
#define ENTITY(type, name)                                                     \
	"SELECT count(*) FROM sqlite_schema"                                   \
	" WHERE type = '" type "' AND name = '" name "'"

/*
 * What does not raise the version: older versions still accept a store with
 * these columns, leave them NULL, and use digest 1, which digest 2 supplements;
 * job_origin and job_file say whose run it is, and revision what was checked
 * out.
 */
static const struct {
	const char *query; /* gives 0 where it is missing */
	size_t has;        /* where the store notes whether it is there */
	const char *add;
} additions[] = {
	{ COLUMN("run", "digest2"), offsetof(struct store, has_digest2),
	  "ALTER TABLE run ADD COLUMN digest2 TEXT;" },
	{ COLUMN("run", "job_file"), offsetof(struct store, has_origin),
	  "ALTER TABLE run ADD COLUMN job_origin TEXT;"
	  "ALTER TABLE run ADD COLUMN job_file TEXT;" },
	{ COLUMN("run", "revision"), offsetof(struct store, has_revision),
	  "ALTER TABLE run ADD COLUMN revision TEXT;" },
	/* Only a few of many thousand runs have not ended. */
	{ ENTITY("index", "run_open"), offsetof(struct store, has_open),
	  "CREATE INDEX run_open ON run (provider)"
	  " WHERE NOT " STORE_IS_FINAL ";" },
	{ COLUMN("journal", "once"), offsetof(struct store, has_once),
	  "ALTER TABLE journal ADD COLUMN once TEXT;" },
	/* The jobs that wait for others, which older versions do not know. */
	{ ENTITY("table", "wait"), offsetof(struct store, has_wait),
	  "CREATE TABLE wait ("
	  " job_id TEXT PRIMARY KEY,"
	  " skipped INTEGER NOT NULL,"
	  " why TEXT NOT NULL,"
	  " host TEXT NOT NULL,"
	  " pid INTEGER NOT NULL,"
	  " time_ms INTEGER NOT NULL) WITHOUT ROWID;" },
};

/* Whether several machines may see the file system at once: WAL's shared memory
 * does not work across machines, and home directories are often on such a file
 * system. */
static bool is_shared(const char *folder)
{
	static const unsigned magic[] = {
		0x6969,     /* NFS */
		0x517b,     /* SMB */
		0xff534d42, /* CIFS */
		0xfe534d42, /* SMB 2 */
		0x65735546, /* FUSE */
		0x0bd00bd0, /* Lustre */
		0x47504653, /* GPFS */
		0x00c36400, /* Ceph */
		0x5346414f, /* AFS */
		0x19830326, /* BeeGFS */
		0x01021997, /* 9P */
	};
	struct statfs fs;
	size_t i;

	if (statfs(folder, &fs) < 0)
		return true;
	for (i = 0; i < COUNT(magic); i++)
		if ((unsigned)fs.f_type == magic[i])
			return true;
	return false;
}

/* Runs statements that return at most one number, which is stored in
 * `value`. */
static int ask(struct store *store, const char *sql, long *value,
	       struct error *err)
{
	sqlite3_stmt *stmt = NULL;
	int row;

	if (sqlite3_prepare_v2(store->db, sql, -1, &stmt, NULL))
		return store_fail(store, err);
	row = store_step(store, stmt, err);
	if (row > 0 && value)
		*value = (long)sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return row < 0 ? -1 : 0;
}

static int check_version(struct store *store, long *version, struct error *err)
{
	long tables = 0;

	if (ask(store, "PRAGMA user_version", version, err) < 0)
		return -1;
	if (*version > (long)COUNT(migrations))
		return error_set(err, ERROR_FAILED,
				 "'%s' was written by a newer jobrun (store "
				 "version %ld, this one knows %zu): use that "
				 "one, or set JOBRUN_STATE_DIR to another "
				 "directory",
				 store->path, *version, COUNT(migrations));
	if (*version == 0 &&
	    ask(store, "SELECT count(*) FROM sqlite_schema", &tables, err) < 0)
		return -1;
	/* Our tables come with a version, which another process may just have
	 * written. */
	if (tables && ask(store, "PRAGMA user_version", version, err) < 0)
		return -1;
	if (tables && *version == 0)
		return error_set(err, ERROR_FAILED,
				 "'%s' is the database of another program: "
				 "set JOBRUN_STATE_DIR to another directory",
				 store->path);
	return 0;
}

/* The store's flag for additions[i]. */
static bool *has(struct store *store, size_t i)
{
	return (bool *)((char *)store + additions[i].has);
}

static int look_for_additions(struct store *store, struct error *err)
{
	for (size_t i = 0; i < COUNT(additions); i++) {
		long found = 0;

		if (ask(store, additions[i].query, &found, err) < 0)
			return -1;
		*has(store, i) = found;
	}
	return 0;
}

static bool has_additions(struct store *store)
{
	for (size_t i = 0; i < COUNT(additions); i++)
		if (!*has(store, i))
			return false;
	return true;
}

static int add_additions(struct store *store, struct error *err)
{
	for (size_t i = 0; i < COUNT(additions); i++)
		if (!*has(store, i) &&
		    sqlite3_exec(store->db, additions[i].add, NULL, NULL, NULL))
			return store_fail(store, err);
	for (size_t i = 0; i < COUNT(additions); i++)
		*has(store, i) = true;
	return 0;
}

static int migrate(struct store *store, struct error *err)
{
	char sql[64];
	long version;

	if (check_version(store, &version, err) < 0)
		return -1;
	for (; version < (long)COUNT(migrations); version++) {
		snprintf(sql, sizeof(sql), "PRAGMA user_version = %ld",
			 version + 1);
		if (sqlite3_exec(store->db, migrations[version], NULL, NULL,
				 NULL) ||
		    sqlite3_exec(store->db, sql, NULL, NULL, NULL))
			return store_fail(store, err);
	}
	if (look_for_additions(store, err) < 0)
		return -1;
	return add_additions(store, err);
}

static bool is_wal(struct store *store)
{
	sqlite3_stmt *stmt = NULL;
	const char *mode = NULL;
	bool wal;

	if (!sqlite3_prepare_v2(store->db, "PRAGMA journal_mode", -1, &stmt,
				NULL) &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		mode = (const char *)sqlite3_column_text(stmt, 0);
	wal = mode && !strcmp(mode, "wal");
	sqlite3_finalize(stmt);
	return wal;
}

static int make_tables(struct store *store, struct error *err)
{
	long version;

	/* Another process may have been faster. */
	if (check_version(store, &version, err) < 0)
		return -1;
	/* WAL stays set in the file.  If it is unavailable, that is no error:
	 * the mode stays as it was. */
	if (version == 0 && !is_shared(store->folder) &&
	    ask(store, "PRAGMA journal_mode = WAL", NULL, err) < 0)
		return -1;
	if (store_begin(store, err) < 0)
		return -1;
	return store_end(store, migrate(store, err), err);
}

static int set_up_once(struct store *store, struct error *err)
{
	long version;

	if (check_version(store, &version, err) < 0 ||
	    look_for_additions(store, err) < 0)
		return -1;
	/* An older store that can't be written can still be read. */
	if ((version < (long)COUNT(migrations) || !has_additions(store)) &&
	    !(version && sqlite3_db_readonly(store->db, "main") == 1)) {
		if (make_tables(store, err) < 0)
			return -1;
		version = (long)COUNT(migrations);
	}
	store->version = version;
	/* In WAL mode a power failure may then undo the last commits, but
	 * damages nothing, and the processes that those describe are gone as
	 * well.  A kill loses nothing. */
	store->relaxed = is_wal(store);
	return store->relaxed
		       ? ask(store, "PRAGMA synchronous = NORMAL", NULL, err)
		       : 0;
}

/* SQLite does not wait when it switches to WAL or recovers one, as that could
 * deadlock; here it can't, so this waits. */
int store_set_up(struct store *store, struct error *err)
{
	const struct timespec pause = { .tv_nsec = RETRY_MS * 1000000 };
	int64_t end_ms = time_monotonic_ms() + STORE_TIMEOUT_MS;
	struct error why;

	while (set_up_once(store, &why) < 0) {
		if (why.code != ERROR_TRY_AGAIN ||
		    time_monotonic_ms() >= end_ms) {
			*err = why;
			return -1;
		}
		nanosleep(&pause, NULL);
	}
	return 0;
}
