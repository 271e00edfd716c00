/* SPDX-License-Identifier: Apache-2.0 */
/* Where the store is, how it is made, opened and brought up to date.  What is
 * in it: runs.c, tasks.c, ports.c. */
#include "core/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/store/db.h"

#define LOCK_TIMEOUT_MS 5000
#define RETRY_MS 5

/* migrations[i] leads from version i to i + 1: add, never change.  States are
 * names, so that a person can ask the database too. */
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
	" UNIQUE (run, type, idx));"
	"CREATE TABLE port ("
	" port INTEGER PRIMARY KEY,"
	" run INTEGER NOT NULL);",
};

/* File systems that several machines see at once: the shared memory of WAL
 * does not reach across them, and a home directory is often on one. */
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

/* Runs statements that give at most one number, which is left in `value`. */
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
	if (tables)
		return error_set(err, ERROR_FAILED,
				 "'%s' is the database of another program: "
				 "set JOBRUN_STATE_DIR to another directory",
				 store->path);
	return 0;
}

static int migrate(struct store *store, struct error *err)
{
	char sql[64];
	long version;

	/* Another process may have been faster. */
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
	return 0;
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

static int set_up_once(struct store *store, struct error *err)
{
	long version;

	if (check_version(store, &version, err) < 0)
		return -1;
	if (version < (long)COUNT(migrations)) {
		/* Stays with the file.  Where WAL can't be had, that is no
		 * error: the mode stays what it was. */
		if (version == 0 && store->folder[0] &&
		    !is_shared(store->folder) &&
		    ask(store, "PRAGMA journal_mode = WAL", NULL, err) < 0)
			return -1;
		if (store_begin(store, err) < 0 ||
		    store_end(store, migrate(store, err), err) < 0)
			return -1;
	}
	/* In WAL mode a power failure can then take back the last commits,
	 * but damages nothing; the processes that those spoke of are gone
	 * as well.  A kill loses nothing. */
	if (is_wal(store))
		return ask(store, "PRAGMA synchronous = NORMAL", NULL, err);
	return 0;
}

/* SQLite does not wait where it changes to WAL or recovers one, as that could
 * deadlock; here it can't, so wait. */
static int set_up(struct store *store, struct error *err)
{
	const struct timespec pause = { .tv_nsec = RETRY_MS * 1000000 };
	int64_t end_ms = time_monotonic_ms() + LOCK_TIMEOUT_MS;
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

static int connect(struct store *store, const char *name, int flags,
		   struct error *err)
{
	/* Our own mutex serves for whole calls, so SQLite needs none. */
	if (sqlite3_open_v2(name, &store->db, flags | SQLITE_OPEN_NOMUTEX,
			    NULL))
		return store_fail(store, err);
	sqlite3_busy_timeout(store->db, LOCK_TIMEOUT_MS);
	return set_up(store, err);
}

static void disconnect(struct store *store)
{
	size_t i;

	for (i = 0; i < COUNT(store->queries); i++) {
		sqlite3_finalize(store->queries[i]);
		store->queries[i] = NULL;
	}
	sqlite3_close(store->db);
	store->db = NULL;
}

static char *absolute(const char *path)
{
	char *here, *out;

	if (path[0] == '/')
		return mem_strdup(path);
	/* Whoever holds the store may change its directory later. */
	here = getcwd(NULL, 0);
	out = path_join(here ? here : "", path);
	free(here);
	return out;
}

/* Returns new, or NULL if the environment does not say. */
static char *find_folder(void)
{
	const char *own = getenv("JOBRUN_STATE_DIR");
	const char *xdg = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	if (own && own[0])
		return absolute(own);
	/* "If an implementation encounters a relative path in any of these
	 * variables it should consider the path invalid and ignore it." */
	if (xdg && xdg[0] == '/')
		return path_join(xdg, "jobrun");
	if (home && home[0] == '/')
		return path_join(home, ".local/state/jobrun");
	return NULL;
}

/* Takes the folder. */
static struct store *store_new(char *folder)
{
	struct store *store = mem_alloc(sizeof(*store));

	store->folder = folder;
	store->path = path_join(folder, "jobrun.db");
	gethostname(store->host, sizeof(store->host) - 1);
	pthread_mutex_init(&store->lock, NULL);
	return store;
}

static void add_hint(struct error *err)
{
	size_t len = strlen(err->text);

	snprintf(err->text + len, sizeof(err->text) - len,
		 "; set JOBRUN_STATE_DIR to use another directory");
}

/* The folder and an empty database, private whatever the umask says.  The
 * other files of SQLite take their mode from the database. */
static int make_files(struct store *store, struct error *err)
{
	struct stat st;
	int fd;

	if (stat(store->folder, &st) < 0) {
		if (folder_make(store->folder, err) < 0) {
			error_prefix(err, "no state directory");
			add_hint(err);
			return -1;
		}
		chmod(store->folder, 0700);
	} else if (!S_ISDIR(st.st_mode)) {
		error_set(err, ERROR_FAILED,
			  "the state directory '%s' is not a directory",
			  store->folder);
		add_hint(err);
		return -1;
	}
	if (access(store->path, F_OK) == 0)
		return 0;
	/* New, so that no lock of this process is lost by the close(). */
	fd = open(store->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 && errno != EEXIST) {
		error_errno(err, "cannot write to the state directory '%s'",
			    store->folder);
		add_hint(err);
		return -1;
	}
	if (fd >= 0) {
		fchmod(fd, 0600);
		close(fd);
	}
	return 0;
}

struct store *store_open(struct error *err)
{
	char *folder = find_folder();
	struct store *store;

	if (!folder) {
		error_set(err, ERROR_FAILED,
			  "no state directory: HOME is not set; set "
			  "JOBRUN_STATE_DIR to a directory for runs and logs");
		return NULL;
	}
	store = store_new(folder);
	if (make_files(store, err) < 0 ||
	    connect(store, store->path, SQLITE_OPEN_READWRITE, err) < 0) {
		store_close(store);
		return NULL;
	}
	if (sqlite3_db_readonly(store->db, "main") == 1) {
		errno = 0;
		if (access(store->folder, W_OK) == 0 &&
		    access(store->path, W_OK) == 0)
			errno = EROFS;
		error_errno(err, "cannot write '%s'", store->path);
		add_hint(err);
		store_close(store);
		return NULL;
	}
	return store;
}

/* An empty store in memory, for where there is none. */
static int connect_nowhere(struct store *store, struct error *err)
{
	int ret = connect(store, ":memory:", SQLITE_OPEN_READWRITE, err);

	store->nowhere = true;
	return ret;
}

/* Nobody else can be writing there, or it would not be read-only.  But what
 * a writer left in the WAL is seen only by who can recover that. */
static int connect_immutable(struct store *store, struct error *err)
{
	char *wal = mem_printf("%s-wal", store->path);
	struct buf name = { 0 };
	struct stat st;
	const char *p;
	int ret = -1;

	if (stat(wal, &st) == 0 && st.st_size > 0) {
		error_set(err, ERROR_DENIED,
			  "cannot read '%s': its log must be recovered first, "
			  "and '%s' can't be written",
			  store->path, store->folder);
		goto out;
	}
	buf_puts(&name, "file:");
	for (p = store->path; *p; p++) {
		if (strchr("%?#", *p))
			buf_printf(&name, "%%%02x", *p);
		else
			buf_putc(&name, *p);
	}
	buf_puts(&name, "?immutable=1");
	ret = connect(store, name.data, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
		      err);
out:
	buf_done(&name);
	free(wal);
	return ret;
}

struct store *store_open_to_read(struct error *err)
{
	char *folder = find_folder();
	struct store *store = store_new(folder ? folder : mem_strdup(""));
	struct error why;
	int ret;

	if (!folder || (access(store->path, F_OK) < 0 &&
			(errno == ENOENT || errno == ENOTDIR))) {
		ret = connect_nowhere(store, err);
	} else {
		ret = connect(store, store->path, SQLITE_OPEN_READWRITE, &why);
		if (ret < 0 && why.code == ERROR_DENIED) {
			disconnect(store);
			ret = connect_immutable(store, err);
		} else if (ret < 0) {
			*err = why;
		}
	}
	if (ret < 0) {
		store_close(store);
		return NULL;
	}
	return store;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	disconnect(store);
	pthread_mutex_destroy(&store->lock);
	free(store->path);
	free(store->folder);
	free(store);
}

const char *store_folder(const struct store *store)
{
	return store->folder;
}

char *store_run_folder(const struct store *store, const char *job_id,
		       int attempt)
{
	return mem_printf("%s/runs/%s.%d", store->folder, job_id, attempt);
}
