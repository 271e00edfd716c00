/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/process/process.h"

#define POLL_MS 50
#define SPARE_FILES 256

struct lock {
	const char *job_id; /* the caller's string at first, later the set's */
	int fd;             /* -1: not held */
};

struct lock_set {
	char *folder;
	struct lock *locks; /* sorted by name */
	size_t count;
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct lock *)a)->job_id,
		      ((const struct lock *)b)->job_id);
}

/* Writes a line that names the holder into the lock file. */
static void sign(int fd)
{
	char host[256] = "";
	char now[40], line[400];
	int len;

	gethostname(host, sizeof(host) - 1);
	time_format(time_now_ms(), now, sizeof(now));
	len = snprintf(line, sizeof(line), "process %ld on %s, since %s\n",
		       (long)getpid(), host, now);
	/* The line only informs people: a full disk must not keep anyone from
	 * working. */
	if (ftruncate(fd, 0) == 0 && len > 0)
		fd_write(fd, line, (size_t)len);
}

static int held_by(const char *job_id, int fd, struct error *err)
{
	char line[400];
	ssize_t len = pread(fd, line, sizeof(line) - 1, 0);

	line[len > 0 ? len : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return error_set(err, ERROR_TRY_AGAIN,
			 "another jobrun is working on job '%s': %s", job_id,
			 line[0] ? line : "holder unknown");
}

/* The holder removes the file on release, so our lock may be on a deleted
 * file. */
static bool is_in_place(int fd, const char *path)
{
	struct stat mine, there;

	return fstat(fd, &mine) == 0 && stat(path, &there) == 0 &&
	       mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
}

/* Returns 1 if somebody else holds the lock; `err` names the holder. */
static int try_lock(const char *path, struct lock *lock, struct error *err)
{
	int fd;

	for (;;) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			  0600);
		if (fd < 0)
			return error_errno(err, "cannot open '%s'", path);
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			if (errno == EINTR) {
				close(fd);
				continue;
			}
			if (errno == EWOULDBLOCK) {
				held_by(lock->job_id, fd, err);
				close(fd);
				return 1;
			}
			error_errno(err, "cannot lock '%s'", path);
			close(fd);
			return -1;
		}
		if (is_in_place(fd, path))
			break;
		close(fd);
	}
	sign(fd);
	lock->fd = fd;
	return 0;
}

static void let_go(const struct lock_set *set, struct lock *lock)
{
	char *path;

	if (lock->fd < 0)
		return;
	path = path_join(set->folder, lock->job_id);
	unlink(path); /* while the lock is still ours */
	close(lock->fd);
	lock->fd = -1;
	free(path);
}

/* Raises the limit only as far as needed: processes started later inherit
 * it. */
static void allow_files(size_t count)
{
	rlim_t need = (rlim_t)count + SPARE_FILES;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= need)
		return;
	limit.rlim_cur = need < limit.rlim_max ? need : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static struct lock_set *set_new(const char *folder, const char *const *job_ids,
				size_t count)
{
	struct lock_set *set = mem_alloc(sizeof(*set));
	struct lock *locks = mem_alloc((count + 1) * sizeof(*locks));
	size_t i, n = 0;

	set->folder = mem_strdup(folder);
	set->locks = locks;
	for (i = 0; i < count; i++)
		locks[i] = (struct lock){ .job_id = job_ids[i], .fd = -1 };
	if (count)
		qsort(locks, count, sizeof(*locks), compare);
	for (i = 0; i < count; i++)
		if (!n || compare(&locks[n - 1], &locks[i]) != 0)
			locks[n++] = locks[i];
	for (i = 0; i < n; i++)
		locks[i].job_id = mem_strdup(locks[i].job_id);
	set->count = n;
	return set;
}

struct lock_set *lock_set_take(const char *folder, const char *const *job_ids,
			       size_t count, int64_t timeout_ms,
			       void (*waiting)(void *arg,
					       const struct error *why),
			       void *arg, struct error *err)
{
	const struct timespec pause = { .tv_nsec = POLL_MS * 1000000L };
	int64_t end_ms = time_monotonic_ms() + timeout_ms;
	struct lock_set *set = set_new(folder, job_ids, count);
	bool told = false;
	size_t i = 0;

	if (folder_make(folder, err) < 0)
		goto fail;
	allow_files(count);
	while (i < set->count) {
		char *path = path_join(folder, set->locks[i].job_id);
		struct error why;
		int busy = try_lock(path, &set->locks[i], &why);

		free(path);
		if (busy == 0) {
			told = false;
			i++;
			continue;
		}
		if (busy < 0 || time_monotonic_ms() >= end_ms) {
			*err = why;
			goto fail;
		}
		if (waiting && !told)
			waiting(arg, &why);
		told = true;
		nanosleep(&pause, NULL);
	}
	return set;
fail:
	lock_set_free(set);
	return NULL;
}

struct lock_set *lock_set_take_free(const char *folder,
				    const char *const *job_ids, size_t count,
				    struct error *err)
{
	struct lock_set *set = set_new(folder, job_ids, count);
	size_t i;

	if (folder_make(folder, err) < 0)
		goto fail;
	allow_files(count);
	for (i = 0; i < set->count; i++) {
		char *path = path_join(folder, set->locks[i].job_id);
		struct error why;
		int busy = try_lock(path, &set->locks[i], &why);

		free(path);
		if (busy < 0) {
			*err = why;
			goto fail;
		}
	}
	return set;
fail:
	lock_set_free(set);
	return NULL;
}

static struct lock *find(const struct lock_set *set, const char *job_id)
{
	struct lock key = { .job_id = job_id };

	return bsearch(&key, set->locks, set->count, sizeof(key), compare);
}

bool lock_set_has(const struct lock_set *set, const char *job_id)
{
	const struct lock *lock = set ? find(set, job_id) : NULL;

	return lock && lock->fd >= 0;
}

/* Whether the process has ended, and its parent has not looked yet: it holds no
 * lock any more. */
static bool is_zombie(pid_t pid)
{
	pid_t parent;

	return process_state(pid, &parent) == 'Z';
}

/* Returns 1 if the holder lives or is on another machine, 0 if it is dead, and
 * -1 if there is no such lock or it does not name its holder. */
static int holder_lives(const char *folder, const char *job_id)
{
	char *path = path_join(folder, job_id);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char line[400], host[256] = "", mine[256] = "";
	ssize_t len = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	long pid;
	int ret = -1;

	gethostname(mine, sizeof(mine) - 1);
	line[len > 0 ? len : 0] = '\0';
	if (sscanf(line, "process %ld on %255[^,],", &pid, host) == 2)
		ret = strcmp(host, mine) != 0 ||
		      ((kill((pid_t)pid, 0) == 0 || errno != ESRCH) &&
		       !is_zombie((pid_t)pid));
	if (fd >= 0)
		close(fd);
	free(path);
	return ret;
}

bool lock_is_stale(const char *folder, const char *job_id)
{
	return holder_lives(folder, job_id) == 0;
}

bool lock_is_held(const char *folder, const char *job_id)
{
	return holder_lives(folder, job_id) == 1;
}

void lock_set_release(struct lock_set *set, const char *job_id)
{
	struct lock *lock = set ? find(set, job_id) : NULL;

	if (lock)
		let_go(set, lock);
}

void lock_set_free(struct lock_set *set)
{
	size_t i;

	if (!set)
		return;
	for (i = 0; i < set->count; i++) {
		let_go(set, &set->locks[i]);
		free((char *)set->locks[i].job_id);
	}
	free(set->locks);
	free(set->folder);
	free(set);
}
