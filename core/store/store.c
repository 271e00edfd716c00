/* SPDX-License-Identifier: Apache-2.0 */
/* Finds, makes and opens the store. schema.c has its tables; runs.c and tasks.c
 * use them. */
#include "core/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/store/db.h"
#include "core/store/trust.h"

/*
 * SQLite's own handler sleeps longer and longer, so the process that has waited
 * longest gets the lock last.  This one is fair on average.
 */
static int wait_for_lock(void *arg, int count)
{
	struct store *store = arg;
	struct timespec now, pause = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (count == 0)
		store->busy_since_ms = time_monotonic_ms();
	else if (time_monotonic_ms() - store->busy_since_ms >= STORE_TIMEOUT_MS)
		return 0;
	pause.tv_nsec = 500000 + now.tv_nsec % 4000000;
	nanosleep(&pause, NULL);
	return 1;
}

static int open_database(struct store *store, const char *name, int flags,
			 struct error *err)
{
	/* Our own mutex guards whole calls, so SQLite needs none. */
	if (sqlite3_open_v2(name, &store->db, flags | SQLITE_OPEN_NOMUTEX,
			    NULL))
		return store_fail(store, err);
	return 0;
}

static int connect(struct store *store, const char *name, int flags,
		   struct error *err)
{
	if (open_database(store, name, flags, err) < 0)
		return -1;
	sqlite3_busy_handler(store->db, wait_for_lock, store);
	return store_set_up(store, err);
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

/* Returns new, or NULL if the environment does not determine it. */
static char *find_folder(void)
{
	const char *own = getenv("JOBRUN_STATE_DIR");
	const char *xdg = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	/* Made absolute, as the store's user may change the working directory
	 * later. */
	if (own && own[0])
		return path_absolute(own);
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

static int fail_to_write(struct store *store, struct error *err)
{
	error_errno(err, "cannot write to the state directory '%s'",
		    store->folder);
	add_hint(err);
	return -1;
}

/* Makes the folder, private whatever the umask is. */
static int make_folder(struct store *store, struct error *err)
{
	struct stat st;

	if (stat(store->folder, &st) < 0) {
		if (folder_make(store->folder, err) < 0) {
			error_prefix(err, "no state directory");
			add_hint(err);
			return -1;
		}
		chmod(store->folder, 0700);
	} else if (S_ISDIR(st.st_mode)) {
		/* It was made for us with a permissive umask, and has nothing
		 * that we would act on: restrict its mode. */
		if ((st.st_mode & (S_IWGRP | S_IWOTH)) &&
		    st.st_uid == geteuid() && access(store->path, F_OK) < 0)
			chmod(store->folder, st.st_mode & 0755);
	} else {
		error_set(err, ERROR_FAILED,
			  "the state directory '%s' is not a directory",
			  store->folder);
		add_hint(err);
		return -1;
	}
	return 0;
}

/* Moves everything from the WAL into the file that will be put in place: on a
 * full disk that fails, and the file alone is not a database. */
static int complete(struct store *store, struct error *err)
{
	int left = 0, done = 0;

	if (sqlite3_wal_checkpoint_v2(store->db, NULL,
				      SQLITE_CHECKPOINT_TRUNCATE, &left, &done))
		return store_fail(store, err);
	/* Both are -1 without a WAL. */
	if (left != done)
		return error_set(err, ERROR_FAILED,
				 "cannot create '%s': its log is not written "
				 "back",
				 store->path);
	return 0;
}

static void remove_database(const char *path)
{
	static const char *const ends[] = { "", "-wal", "-shm", "-journal" };
	char *name;
	size_t i;

	for (i = 0; i < COUNT(ends); i++) {
		name = mem_printf("%s%s", path, ends[i]);
		unlink(name);
		free(name);
	}
}

/* Puts a finished database in place, unless another process was faster. */
static int put_in_place(struct store *store, const char *beside,
			struct error *err)
{
	int fd;

	if (link(beside, store->path) == 0) {
		folder_sync(store->folder);
		return 0;
	}
	if (errno == EEXIST)
		return 0;
	/* Without hard links, create an empty file and fill it in place. */
	fd = open(store->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EEXIST ? 0 : fail_to_write(store, err);
	close(fd);
	return 0;
}

/*
 * Makes a new database beside its final place, so that nobody sees an
 * incomplete one: if many processes start at once, those reading a new database
 * would prevent the one that makes it from switching it to WAL.  Its mode also
 * applies to SQLite's other files.
 */
static int make_database(struct store *store, struct error *err)
{
	struct store *made = store_new(mem_strdup(store->folder));
	int ret = -1;
	int fd;

	free(made->path);
	made->path = mem_printf("%s.XXXXXX", store->path);
	fd = mkostemp(made->path, O_CLOEXEC);
	if (fd < 0) {
		fail_to_write(store, err);
		goto out;
	}
	fchmod(fd, 0600);
	close(fd);
	ret = connect(made, made->path, SQLITE_OPEN_READWRITE, err);
	if (ret == 0)
		ret = complete(made, err);
	disconnect(made);
	if (ret == 0)
		ret = put_in_place(store, made->path, err);
	remove_database(made->path);
out:
	store_close(made);
	return ret;
}

/* Takes the folder. */
static struct store *open_to_write(char *folder, struct error *err)
{
	struct store *store = store_new(folder);

	if (make_folder(store, err) < 0 ||
	    trust_check(store->folder, err) < 0 ||
	    (access(store->path, F_OK) < 0 && make_database(store, err) < 0) ||
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

struct store *store_open(struct error *err)
{
	char *folder = find_folder();

	if (folder)
		return open_to_write(folder, err);
	error_set(err, ERROR_FAILED,
		  "no state directory: HOME is not set; set "
		  "JOBRUN_STATE_DIR to a directory for runs and logs");
	return NULL;
}

struct store *store_open_at(const char *folder, struct error *err)
{
	return open_to_write(mem_strdup(folder), err);
}

/* Stands in for a missing store: every statement from store_query() finds
 * nothing, so no tables have to be made, which would take longer than most
 * plans. */
static int connect_nowhere(struct store *store, struct error *err)
{
	store->nowhere = true;
	return open_database(store, ":memory:", SQLITE_OPEN_READWRITE, err);
}

/* Nobody else can be writing there, or it would not be read-only.  But data
 * that a writer left in the WAL is visible only to a process that can recover
 * it. */
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
	} else if (trust_check(store->folder, err) < 0) {
		ret = -1;
	} else {
		ret = connect(store, store->path, SQLITE_OPEN_READWRITE, &why);
		if (ret < 0 && error_is_denied(&why)) {
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
