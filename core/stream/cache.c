/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a cache, and its use of space.  The file `lock` holds the
 * number of bytes used, which is never too low: it is raised before a file is
 * made and lowered after one is deleted.  A process killed in between leaves it
 * too high; the next one that finds the cache full counts all files again.
 */
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/stream/cache_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"

#define ENTRY_SUFFIX ".object"
#define NEW_SUFFIX ".new"
/* Other processes hold the lock while they scan all files; if one is stopped
 * meanwhile, it must not stop us too. */
#define LOCK_PATIENCE_MS 5000
#define LOCK_POLL_US 2000
/* How many of the oldest entries one scan finds. */
#define OLDEST_MAX 4096
/* When the cache is full, this fraction of the limit is evicted at once. */
#define FREED_PART 16

void cache_name(const char *url, char name[CACHE_NAME_SIZE])
{
	struct digest key;

	digest_bytes(url, strlen(url), &key);
	snprintf(name, CACHE_NAME_SIZE, "%s" ENTRY_SUFFIX, key.hex);
}

static bool is_named(const char *name, size_t digits, const char *suffix)
{
	return strspn(name, "0123456789abcdef") == digits &&
	       !strcmp(name + digits, suffix);
}

void cache_note(struct cache *cache, const struct error *why)
{
	pthread_mutex_lock(&cache->trouble_mutex);
	if (!cache->troubled)
		cache->trouble = *why;
	cache->troubled = true;
	pthread_mutex_unlock(&cache->trouble_mutex);
}

static void note_errno(struct cache *cache, const char *what)
{
	struct error why;

	error_errno(&why, "cannot %s in '%s'", what, cache->folder);
	cache_note(cache, &why);
}

bool cache_trouble(struct cache *cache, struct error *why)
{
	bool troubled;

	pthread_mutex_lock(&cache->trouble_mutex);
	troubled = cache->troubled;
	if (troubled)
		*why = cache->trouble;
	pthread_mutex_unlock(&cache->trouble_mutex);
	return troubled;
}

static int lock(struct cache *cache)
{
	int64_t until = time_monotonic_ms() + LOCK_PATIENCE_MS;
	struct error why;

	pthread_mutex_lock(&cache->mutex);
	while (flock(cache->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK || time_monotonic_ms() > until) {
			error_errno(&why, "cannot lock '%s/lock'",
				    cache->folder);
			cache_note(cache, &why);
			pthread_mutex_unlock(&cache->mutex);
			return -1;
		}
		usleep(LOCK_POLL_US);
	}
	return 0;
}

static void unlock(struct cache *cache)
{
	flock(cache->lock_fd, LOCK_UN);
	pthread_mutex_unlock(&cache->mutex);
}

/* These are called under the lock.  UINT64_MAX: unknown. */
static uint64_t read_used(const struct cache *cache)
{
	char text[32] = "";
	uint64_t used;
	ssize_t n = pread(cache->lock_fd, text, sizeof(text) - 1, 0);

	return n == 21 && sscanf(text, "%20" SCNu64 "\n", &used) == 1
		       ? used
		       : UINT64_MAX;
}

static void write_used(struct cache *cache, uint64_t used)
{
	char text[32];
	/* The length is fixed, so that one write replaces the text. */
	int len = snprintf(text, sizeof(text), "%20" PRIu64 "\n", used);

	if (pwrite(cache->lock_fd, text, (size_t)len, 0) != len)
		note_errno(cache, "write the file 'lock'");
}

static void give_back(struct cache *cache, uint64_t bytes)
{
	uint64_t used = read_used(cache);

	if (used != UINT64_MAX)
		write_used(cache, used > bytes ? used - bytes : 0);
}

struct old {
	struct timespec used;
	uint64_t bytes;
	char name[CACHE_NAME_SIZE];
};

/* The contents of the folder: all bytes, and the oldest entries. */
struct survey {
	uint64_t bytes;
	struct old *oldest; /* room for twice OLDEST_MAX */
	size_t count;
	bool more; /* there are younger entries */
};

static int by_age(const void *a, const void *b)
{
	const struct timespec *x = &((const struct old *)a)->used;
	const struct timespec *y = &((const struct old *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static void keep_oldest(struct survey *found)
{
	qsort(found->oldest, found->count, sizeof(*found->oldest), by_age);
	if (found->count <= OLDEST_MAX)
		return;
	found->count = OLDEST_MAX;
	found->more = true;
}

/* Whether the file's writer was killed. */
static bool is_left_behind(const struct cache *cache, const char *name)
{
	int fd = openat(cache->fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	bool left = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;

	if (fd >= 0)
		close(fd);
	return left;
}

static void survey_file(struct cache *cache, const char *name,
			struct survey *found)
{
	bool is_new = is_named(name, 16, NEW_SUFFIX);
	struct stat st;
	struct old *one;

	if ((!is_new && !is_named(name, 64, ENTRY_SUFFIX)) ||
	    fstatat(cache->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (is_new && is_left_behind(cache, name) &&
	    unlinkat(cache->fd, name, 0) == 0)
		return;
	found->bytes += (uint64_t)st.st_size;
	if (is_new)
		return;
	one = &found->oldest[found->count++];
	one->used = st.st_mtim;
	one->bytes = (uint64_t)st.st_size;
	memcpy(one->name, name, strlen(name) + 1); /* is_named() */
	if (found->count == 2 * OLDEST_MAX)
		keep_oldest(found);
}

static int survey_folder(struct cache *cache, struct survey *found)
{
	int fd = openat(cache->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *one;

	found->bytes = 0;
	found->count = 0;
	found->more = false;
	if (!folder) {
		note_errno(cache, "look");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while ((one = readdir(folder)))
		survey_file(cache, one->d_name, found);
	closedir(folder);
	keep_oldest(found);
	return 0;
}

/*
 * Evicts the least recently used entries until `need` more bytes fit.  Returns
 * the bytes then used, or UINT64_MAX: they cannot fit.
 */
static uint64_t make_room(struct cache *cache, uint64_t need)
{
	struct survey found = { 0 };
	uint64_t most = cache->limit - need, target = most;
	size_t i;

	if (need <= cache->limit - cache->limit / FREED_PART)
		target -= cache->limit / FREED_PART;
	found.oldest =
		mem_grow(NULL, (size_t)2 * OLDEST_MAX, sizeof(*found.oldest));
	do {
		if (survey_folder(cache, &found) < 0) {
			found.bytes = UINT64_MAX;
			break;
		}
		if (found.bytes <= most)
			break;
		for (i = 0; i < found.count && found.bytes > target; i++)
			if (unlinkat(cache->fd, found.oldest[i].name, 0) == 0)
				found.bytes -= found.oldest[i].bytes;
	} while (found.bytes > most && found.more);
	free(found.oldest);
	return found.bytes <= most ? found.bytes : UINT64_MAX;
}

static int make_file(struct cache *cache, uint64_t bytes,
		     char name[CACHE_NAME_SIZE])
{
	uint64_t number;
	int fd;

	do {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			return -1;
		snprintf(name, CACHE_NAME_SIZE, "%016" PRIx64 NEW_SUFFIX,
			 number);
		fd = openat(cache->fd, name,
			    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	} while (fd < 0 && errno == EEXIST);
	/* Count the size before the bytes are written. */
	if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) < 0 ||
			ftruncate(fd, (off_t)bytes) < 0)) {
		note_errno(cache, "make a file");
		unlinkat(cache->fd, name, 0);
		close(fd);
		return -1;
	}
	if (fd < 0)
		note_errno(cache, "make a file");
	return fd;
}

int cache_reserve(struct cache *cache, uint64_t bytes,
		  char name[CACHE_NAME_SIZE])
{
	uint64_t used;
	int fd = -1;

	if (bytes > cache->limit || lock(cache) < 0)
		return -1;
	used = read_used(cache);
	if (used == UINT64_MAX || used > cache->limit - bytes)
		used = make_room(cache, bytes);
	if (used != UINT64_MAX) {
		write_used(cache, used + bytes);
		fd = make_file(cache, bytes, name);
		if (fd < 0)
			write_used(cache, used);
	}
	unlock(cache);
	return fd;
}

int cache_publish(struct cache *cache, const char *from, const char *to)
{
	struct stat old = { 0 };
	int ret = -1;

	if (lock(cache) < 0)
		return -1;
	if (fstatat(cache->fd, to, &old, AT_SYMLINK_NOFOLLOW) < 0)
		old.st_size = 0;
	if (renameat(cache->fd, from, cache->fd, to) == 0)
		ret = 0;
	else
		note_errno(cache, "rename a file");
	if (ret == 0)
		give_back(cache, (uint64_t)old.st_size);
	unlock(cache);
	return ret;
}

void cache_delete(struct cache *cache, const char *name, int fd)
{
	struct stat now, ours;

	if (lock(cache) < 0)
		return;
	if (fstatat(cache->fd, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	    fstat(fd, &ours) == 0 && now.st_ino == ours.st_ino &&
	    unlinkat(cache->fd, name, 0) == 0)
		give_back(cache, (uint64_t)now.st_size);
	unlock(cache);
}

static int open_folder(struct cache *cache, struct error *err)
{
	struct stat st;

	if (folder_make(cache->folder, err) < 0)
		return -1;
	cache->fd = open(cache->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cache->fd < 0 || fstat(cache->fd, &st) < 0)
		return error_errno(err, "cannot open '%s'", cache->folder);
	/* Whoever can write there decides what is trained on. */
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return error_set(err, ERROR_FAILED,
				 "others can write to '%s': give a new folder "
				 "in it",
				 cache->folder);
	cache->lock_fd =
		openat(cache->fd, "lock",
		       O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (cache->lock_fd < 0)
		return error_errno(err, "cannot open '%s/lock'", cache->folder);
	return 0;
}

struct cache *cache_open(const char *folder, uint64_t limit, struct error *err)
{
	struct cache *cache = mem_alloc(sizeof(*cache));
	uint64_t used;

	cache->folder = mem_strdup(folder);
	cache->fd = cache->lock_fd = -1;
	cache->limit = limit < INT64_MAX ? limit : INT64_MAX;
	pthread_mutex_init(&cache->mutex, NULL);
	pthread_mutex_init(&cache->trouble_mutex, NULL);
	if (open_folder(cache, err) < 0) {
		cache_close(cache);
		return NULL;
	}
	/* An earlier process may have had another limit. */
	if (lock(cache) == 0) {
		used = read_used(cache);
		if (used != UINT64_MAX && used > cache->limit) {
			used = make_room(cache, 0);
			if (used != UINT64_MAX)
				write_used(cache, used);
		}
		unlock(cache);
	}
	return cache;
}

void cache_close(struct cache *cache)
{
	if (!cache)
		return;
	if (cache->fd >= 0)
		close(cache->fd);
	if (cache->lock_fd >= 0)
		close(cache->lock_fd);
	pthread_mutex_destroy(&cache->mutex);
	pthread_mutex_destroy(&cache->trouble_mutex);
	free(cache->folder);
	free(cache);
}
