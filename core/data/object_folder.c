/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories as object stores.  A file is written beside its final place,
 * synced, and renamed; a partial file of a killed writer is not an object.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/crc32c.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/data/object_store.h"

/* Prefix of unfinished files; hidden, so that they do not pass for objects. */
#define BESIDE ".jobrun-"
#define CHUNK_SIZE ((size_t)1 << 20)
#define DEPTH_MAX 64
/* RENAME_NOREPLACE of Linux; not every C library has the call. */
#define NO_REPLACE 1
/* An empty folder may be removed just when a file is made in it. */
#define FOLDER_TRIES 5

static void *folder_open(const struct object_env *env, struct error *err)
{
	static char nothing;

	(void)env;
	(void)err;
	return &nothing;
}

static void folder_close(void *ctx)
{
	(void)ctx;
}

static void fill(const char *url, const struct stat *st, struct arena *mem,
		 struct object *out)
{
	*out = (struct object){
		.exists = true,
		.url = arena_strdup(mem, url),
		.size_bytes = (uint64_t)st->st_size,
		.version = arena_printf(
			mem, "%llu.%lld.%09ld", (unsigned long long)st->st_ino,
			(long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec),
		.crc32c = "",
	};
}

static int folder_stat(void *ctx, const char *url, struct arena *mem,
		       struct object *out, struct error *err)
{
	struct stat st;

	(void)ctx;
	if (stat(url, &st) < 0 && errno != ENOENT && errno != ENOTDIR)
		return error_errno(err, "cannot read '%s'", url);
	*out = (struct object){ .url = "", .version = "", .crc32c = "" };
	if (stat(url, &st) == 0 && S_ISREG(st.st_mode))
		fill(url, &st, mem, out);
	return 0;
}

static int give(int fd, uint64_t offset, uint64_t len, object_sink *sink,
		void *arg)
{
	char *data = mem_alloc(CHUNK_SIZE);
	int ret = 0;

	while (ret == 0 && len) {
		size_t most = len < CHUNK_SIZE ? (size_t)len : CHUNK_SIZE;
		ssize_t n = pread(fd, data, most, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO; /* the file was truncated */
		if (n <= 0) {
			ret = -1;
		} else if (sink(arg, data, (size_t)n) < 0) {
			errno = ECANCELED;
			ret = -1;
		}
		offset += n > 0 ? (uint64_t)n : 0;
		len -= n > 0 ? (uint64_t)n : 0;
	}
	free(data);
	return ret;
}

static int folder_read(void *ctx, const struct object *object, uint64_t offset,
		       uint64_t len, object_sink *sink, void *arg,
		       struct error *err)
{
	struct arena *mem = arena_new();
	struct object now;
	struct stat st;
	int ret = -1;
	int fd;

	(void)ctx;
	fd = open(object->url, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		error_errno(err, "cannot read '%s'", object->url);
		goto out;
	}
	fill(object->url, &st, mem, &now);
	if (!S_ISREG(st.st_mode) || strcmp(now.version, object->version) != 0)
		error_set(err, ERROR_FAILED, "'%s' has changed meanwhile",
			  object->url);
	else if (give(fd, offset, len, sink, arg) < 0)
		error_errno(err, "cannot read '%s'", object->url);
	else
		ret = 0;
out:
	if (fd >= 0)
		close(fd);
	arena_free(mem);
	return ret;
}

static int add_crc(void *arg, const char *data, size_t len)
{
	uint32_t *crc = arg;

	*crc = crc32c_add(*crc, data, len);
	return 0;
}

/* The CRC of the whole file. */
static int read_crc(int fd, uint64_t size, char out[9])
{
	uint32_t crc = 0;

	if (give(fd, 0, size, add_crc, &crc) < 0)
		return -1;
	crc32c_format(crc, out);
	return 0;
}

/* Copies within the file system, if it can do that. */
static int copy(int from, int to, uint64_t size)
{
	off_t at = 0, there = 0;
	ssize_t n = 0;

	while ((uint64_t)at < size) {
		n = copy_file_range(from, &at, to, &there,
				    (size_t)(size - (uint64_t)at), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
	}
	if ((uint64_t)at == size)
		return 0;
	/* Impossible between these two files, or in this kernel. */
	if (n < 0 && errno != EXDEV && errno != EINVAL && errno != ENOSYS &&
	    errno != EOPNOTSUPP)
		return -1;
	while ((uint64_t)at < size) {
		char data[65536];

		n = pread(from, data, sizeof(data), at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || pwrite(to, data, (size_t)n, at) != n) {
			errno = n == 0 ? EIO : errno;
			return -1;
		}
		at += n;
	}
	return 0;
}

/* Creates a file to write to; sets `beside` to its name, new. */
static int make_beside(const char *folder, char **beside, struct error *err)
{
	unsigned long long random;
	int fd = -1;

	for (int i = 0; fd < 0 && i < FOLDER_TRIES; i++) {
		if (folder_make_mode(folder, 0777, err) < 0)
			return -1;
		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			break;
		*beside = mem_printf("%s/" BESIDE "%016llx", folder, random);
		fd = open(*beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0)
			return fd;
		free(*beside);
		*beside = NULL;
		if (errno != ENOENT && errno != EEXIST)
			break;
	}
	return error_errno(err, "cannot create a file in '%s'", folder);
}

/* Whether the existing object has these contents. */
static bool is_same(const char *url, uint64_t size, const char *crc)
{
	char there[9] = "";
	struct stat st;
	int fd = open(url, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool same = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		    (uint64_t)st.st_size == size &&
		    read_crc(fd, size, there) == 0 && !strcmp(there, crc);

	if (fd >= 0)
		close(fd);
	return same;
}

/* Gives the file its name. */
static int name_file(const char *beside, const char *url, bool replace,
		     uint64_t size, const char *crc, struct error *err)
{
	struct stat st;
	int ret;

	ret = replace ? rename(beside, url)
		      : (int)syscall(SYS_renameat2, AT_FDCWD, beside, AT_FDCWD,
				     url, NO_REPLACE);
	/* On a file system without this call, a file that appears at this very
	 * moment is lost. */
	if (ret < 0 && !replace && (errno == EINVAL || errno == ENOSYS) &&
	    lstat(url, &st) < 0)
		ret = rename(beside, url);
	if (ret == 0)
		return 0;
	if (replace || lstat(url, &st) < 0)
		return error_errno(err, "cannot create '%s'", url);
	unlink(beside);
	return is_same(url, size, crc)
		       ? 0
		       : error_set(err, ERROR_FAILED,
				   "'%s': another file is there", url);
}

static int folder_put(void *ctx, const char *url, int fd,
		      const struct object_put *how, struct arena *mem,
		      struct object *out, struct error *err)
{
	char *folder = path_folder(url), *beside = NULL;
	struct stat st;
	char crc[9];
	int to = -1, ret = -1;

	(void)ctx;
	if (how->version) {
		error_set(err, ERROR_FAILED,
			  "'%s': only a bucket can replace one version", url);
		goto out;
	}
	if (fstat(fd, &st) < 0) {
		error_errno(err, "cannot read what is to be '%s'", url);
		goto out;
	}
	to = make_beside(folder, &beside, err);
	if (to < 0)
		goto out;
	if (copy(fd, to, (uint64_t)st.st_size) < 0 || fsync(to) < 0 ||
	    read_crc(to, (uint64_t)st.st_size, crc) < 0) {
		error_errno(err, "cannot write '%s'", url);
		goto out;
	}
	if (name_file(beside, url, how->replace, (uint64_t)st.st_size, crc,
		      err) < 0)
		goto out;
	if (folder_sync(folder) < 0 || stat(url, &st) < 0) {
		error_errno(err, "cannot write '%s'", url);
		goto out;
	}
	if (out) {
		fill(url, &st, mem, out);
		out->crc32c = arena_strdup(mem, crc);
	}
	ret = 0;
out:
	if (ret < 0 && beside)
		unlink(beside);
	if (to >= 0)
		close(to);
	free(beside);
	free(folder);
	return ret;
}

struct object_walk {
	object_each *each;
	void *arg;
	struct buf path;
};

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_wanted(const struct dirent *item)
{
	return strcmp(item->d_name, ".") != 0 &&
	       strcmp(item->d_name, "..") != 0 &&
	       !text_starts(item->d_name, BESIDE);
}

static int walk_folder(struct object_walk *walk, unsigned depth,
		       struct error *err);

static int walk_item(struct object_walk *walk, unsigned depth,
		     struct error *err)
{
	struct arena *mem;
	struct object object;
	struct stat st;
	int ret;

	/* Skip a file that is gone since it was listed, and a dangling link. */
	if (lstat(walk->path.data, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode))
		return walk_folder(walk, depth + 1, err);
	if (!S_ISREG(st.st_mode))
		return 0;
	mem = arena_new();
	fill(walk->path.data, &st, mem, &object);
	ret = walk->each(walk->arg, &object, err);
	arena_free(mem);
	return ret;
}

static int walk_folder(struct object_walk *walk, unsigned depth,
		       struct error *err)
{
	struct dirent **items = NULL;
	size_t len = walk->path.len;
	int count, ret = 0;

	if (depth > DEPTH_MAX)
		return error_set(err, ERROR_FAILED,
				 "'%s' is more than %d folders deep",
				 walk->path.data, DEPTH_MAX);
	count = scandir(walk->path.data, &items, is_wanted, by_name);
	if (count < 0 && errno != ENOENT)
		return error_errno(err, "cannot read '%s'", walk->path.data);
	for (int i = 0; i < count; i++) {
		if (walk->path.data[walk->path.len - 1] != '/')
			buf_putc(&walk->path, '/');
		buf_puts(&walk->path, items[i]->d_name);
		if (ret == 0)
			ret = walk_item(walk, depth, err);
		walk->path.len = len;
		walk->path.data[len] = '\0';
		free(items[i]);
	}
	free(items);
	return ret;
}

static int folder_list(void *ctx, const char *folder, object_each *each,
		       void *arg, struct error *err)
{
	struct object_walk walk = { .each = each, .arg = arg };
	int ret;

	(void)ctx;
	buf_puts(&walk.path, folder);
	ret = walk_folder(&walk, 0, err);
	buf_done(&walk.path);
	return ret;
}

/* Also removes empty folders, which a store does not have. */
static int folder_remove_object(void *ctx, const char *url, struct error *err)
{
	char *folder = path_folder(url);

	(void)ctx;
	if (unlink(url) < 0 && errno != ENOENT && errno != ENOTDIR) {
		free(folder);
		return error_errno(err, "cannot remove '%s'", url);
	}
	while (rmdir(folder) == 0) {
		char *above = path_folder(folder);

		free(folder);
		folder = above;
	}
	free(folder);
	return 0;
}

const struct object_scheme object_scheme_folder = {
	.prefix = "",
	.open = folder_open,
	.close = folder_close,
	.stat = folder_stat,
	.read = folder_read,
	.put = folder_put,
	.list = folder_list,
	.remove = folder_remove_object,
};
