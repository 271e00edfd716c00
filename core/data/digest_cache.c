/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/digest_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/file.h"

#define MAGIC "jobrun digests 1\n"
#define MAGIC_SIZE (sizeof(MAGIC) - 1)
#define HEX_SIZE 64
#define FILE_SIZE_MAX (256 << 20)
/* Some file systems store times this coarsely. */
#define RACY_MS 2000
/* A cache that was not read for so long is for a folder that is gone. */
#define UNUSED_S (30 * 24 * 3600)

/* Identifies a version of a file. */
struct file_identity {
	uint64_t device, inode, size_bytes;
	int64_t changed_ns, status_ns; /* mtime, ctime */
};

/* An entry in the cache file, in this machine's memory layout; its path follows
 * with a NUL. */
struct record {
	struct file_identity identity;
	char hex[HEX_SIZE];
};

struct entry {
	const char *path; /* borrowed from the content */
	struct record record;
	bool used;
};

struct digest_cache {
	char *file;            /* its path */
	char *content;         /* of the cache file, as read */
	struct entry *entries; /* by path, bytewise */
	size_t count;
	struct buf added; /* records and paths, as in the file */
	uint64_t added_bytes;
	size_t added_files;
};

static int64_t in_ns(struct timespec time)
{
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static struct file_identity identity_of(const struct stat *st)
{
	/* It has no padding, so memcmp() can compare two. */
	return (struct file_identity){
		.device = st->st_dev,
		.inode = st->st_ino,
		.size_bytes = (uint64_t)st->st_size,
		.changed_ns = in_ns(st->st_mtim),
		.status_ns = in_ns(st->st_ctim),
	};
}

/* Returns new, or NULL. */
static char *cache_folder(void)
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");

	if (cache && *cache == '/')
		return path_join(cache, "jobrun/digests");
	if (home && *home == '/')
		return path_join(home, ".cache/jobrun/digests");
	return NULL;
}

/* The name of the folder's cache, from the folder's device, inode and path: a
 * copy, or another folder of that name, has a cache of its own.  Returns new,
 * or NULL. */
static char *cache_path(const char *folder, int fd)
{
	char *above = cache_folder(), *path = NULL;
	char real[PATH_MAX];
	struct digest digest;
	struct stat st;
	char *text;

	if (above && fstat(fd, &st) == 0 && realpath(folder, real)) {
		text = mem_printf("%llu %llu %s", (unsigned long long)st.st_dev,
				  (unsigned long long)st.st_ino, real);
		digest_bytes(text, strlen(text), &digest);
		path = path_join(above, digest.hex);
		free(text);
	}
	free(above);
	return path;
}

static int by_path(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* Whether the content is complete, by the digest at its end. */
static bool is_whole(const char *content, size_t len)
{
	struct digest digest;

	if (len < MAGIC_SIZE + HEX_SIZE ||
	    memcmp(content, MAGIC, MAGIC_SIZE) != 0)
		return false;
	digest_bytes(content, len - HEX_SIZE, &digest);
	return memcmp(content + len - HEX_SIZE, digest.hex, HEX_SIZE) == 0;
}

static void read_entries(struct digest_cache *cache, size_t len)
{
	const char *at = cache->content + MAGIC_SIZE;
	const char *end = cache->content + len - HEX_SIZE;
	size_t size = 0;

	while ((size_t)(end - at) > sizeof(struct record)) {
		const char *path = at + sizeof(struct record);
		const char *stop = memchr(path, '\0', (size_t)(end - path));
		struct entry *entry;

		if (!stop)
			break;
		if (cache->count == size) {
			size = size ? size * 2 : 256;
			cache->entries = mem_grow(cache->entries, size,
						  sizeof(*cache->entries));
		}
		entry = &cache->entries[cache->count++];
		*entry = (struct entry){ .path = path };
		memcpy(&entry->record, at, sizeof(entry->record));
		at = stop + 1;
	}
	if (cache->count)
		qsort(cache->entries, cache->count, sizeof(*cache->entries),
		      by_path);
}

/* Reads only the user's own file: one written by somebody else could hide a
 * change. */
static char *read_own(const char *path, size_t *len)
{
	static const struct timespec times[] = { { .tv_nsec = UTIME_NOW },
						 { .tv_nsec = UTIME_OMIT } };
	struct error err = { 0 };
	char *content = NULL;
	struct stat st;
	int fd;

	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH))) {
		content = file_read_fd(fd, path, FILE_SIZE_MAX, len, &err);
		/* Updates the time for drop_unused(), also where reading does
		 * not. */
		futimens(fd, times);
	}
	close(fd);
	return content;
}

struct digest_cache *digest_cache_open(const char *folder, int fd)
{
	struct digest_cache *cache;
	char *path = cache_path(folder, fd);
	size_t len = 0;

	if (!path)
		return NULL;
	cache = mem_alloc(sizeof(*cache));
	cache->file = path;
	cache->content = read_own(path, &len);
	if (cache->content && is_whole(cache->content, len))
		read_entries(cache, len);
	return cache;
}

static struct entry *find_entry(const struct digest_cache *cache,
				const char *path)
{
	struct entry key = { .path = path };

	if (!cache->count)
		return NULL;
	return bsearch(&key, cache->entries, cache->count, sizeof(key),
		       by_path);
}

bool digest_cache_find(struct digest_cache *cache, const char *path,
		       const struct stat *st, struct digest *out)
{
	struct file_identity now = identity_of(st);
	struct entry *entry;

	entry = cache ? find_entry(cache, path) : NULL;
	if (!entry || memcmp(&entry->record.identity, &now, sizeof(now)) != 0)
		return false;
	memcpy(out->hex, entry->record.hex, HEX_SIZE);
	out->hex[HEX_SIZE] = '\0';
	entry->used = true;
	return true;
}

static void put(struct buf *out, const struct record *record, const char *path)
{
	buf_add(out, record, sizeof(*record));
	buf_add(out, path, strlen(path) + 1);
}

void digest_cache_add(struct digest_cache *cache, const char *path,
		      const struct stat *st, int64_t read_at_ms,
		      const struct digest *digest)
{
	struct record record = { .identity = identity_of(st) };
	int64_t last_ns = record.identity.changed_ns;

	if (!cache)
		return;
	if (record.identity.status_ns > last_ns)
		last_ns = record.identity.status_ns;
	if (last_ns / 1000000 > read_at_ms - RACY_MS)
		return;
	memcpy(record.hex, digest->hex, HEX_SIZE);
	put(&cache->added, &record, path);
	cache->added_bytes += record.identity.size_bytes;
	cache->added_files++;
}

/* Removes caches that nobody has read for a month. */
static void drop_unused(const char *folder)
{
	time_t now = time(NULL);
	struct dirent *item;
	DIR *dir = opendir(folder);
	struct stat st;

	if (!dir)
		return;
	while ((item = readdir(dir)))
		if (item->d_name[0] != '.' &&
		    fstatat(dirfd(dir), item->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && now - st.st_atim.tv_sec > UNUSED_S)
			unlinkat(dirfd(dir), item->d_name, 0);
	closedir(dir);
}

/* Ignores failure: the next process then has no cache. */
static void write_cache(const struct digest_cache *cache)
{
	char *folder = path_folder(cache->file);
	struct buf out = { 0 };
	struct error err = { 0 };
	struct digest digest;
	size_t i;

	buf_puts(&out, MAGIC);
	for (i = 0; i < cache->count; i++)
		if (cache->entries[i].used)
			put(&out, &cache->entries[i].record,
			    cache->entries[i].path);
	buf_add(&out, cache->added.data, cache->added.len);
	digest_bytes(out.data, out.len, &digest);
	if (folder_make(folder, &err) == 0) {
		buf_add(&out, digest.hex, HEX_SIZE);
		drop_unused(folder);
		file_write(cache->file, out.data, out.len, &err);
	}
	buf_done(&out);
	free(folder);
}

void digest_cache_close(struct digest_cache *cache)
{
	if (!cache)
		return;
	if (cache->added_bytes >= DIGEST_CACHE_BYTES ||
	    cache->added_files >= DIGEST_CACHE_FILES)
		write_cache(cache);
	buf_done(&cache->added);
	free(cache->entries);
	free(cache->content);
	free(cache->file);
	free(cache);
}
