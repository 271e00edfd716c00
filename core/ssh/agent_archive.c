/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ssh/agent_archive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/text.h"

#define DEPTH_MAX 64
#define BLOCK (256 << 10)

static void put_int(unsigned char *to, uint64_t value, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		to[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get_int(const unsigned char *from, size_t size)
{
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < size; i++)
		value |= (uint64_t)from[i] << (8 * i);
	return value;
}

/* Names come from others, so they are made safe for a terminal. */
__attribute__((format(printf, 2, 3))) static int fail(struct error *err,
						      const char *format, ...)
{
	char text[sizeof(err->text)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text_make_printable(text);
	return error_set(err, ERROR_INVALID, "%s", text);
}

size_t archive_header(unsigned char to[ARCHIVE_HEADER_MAX],
		      enum archive_kind kind, const char *path, uint64_t size)
{
	size_t len = strlen(path);

	if (len >= PATH_MAX)
		return 0;
	to[0] = (unsigned char)kind;
	if (kind == ARCHIVE_END)
		return 1;
	put_int(to + 1, len, 4);
	memcpy(to + 5, path, len);
	put_int(to + 5 + len, size, 8);
	return 5 + len + 8;
}

/* ---- unpacking ---- */

struct unpacking {
	int root;
	uint64_t bytes_left, entries_left;
	unsigned char header[ARCHIVE_HEADER_MAX];
	size_t header_len;
	char path[PATH_MAX];
	char target[PATH_MAX];
	size_t target_len;
	enum archive_kind kind;
	uint64_t left; /* bytes left of the entry's contents */
	int file;      /* -1: between entries */
	bool in_entry;
	bool done;
};

struct unpacking *unpacking_new(int root, uint64_t max_bytes,
				uint64_t max_entries)
{
	struct unpacking *u = mem_alloc(sizeof(*u));

	u->root = root;
	u->file = -1;
	u->bytes_left = max_bytes;
	u->entries_left = max_entries;
	return u;
}

void unpacking_free(struct unpacking *u)
{
	if (u && u->file >= 0)
		close(u->file);
	free(u);
}

bool unpacking_is_done(const struct unpacking *u)
{
	return u->done;
}

/* Opens the folder that the entry goes into, made if needed, and cuts the last
 * part off `path`. */
static int enter(struct unpacking *u, char **base, struct error *err)
{
	unsigned depth = 0;
	char *part = u->path;
	char *slash;
	int fd = fcntl(u->root, F_DUPFD_CLOEXEC, 0);

	for (;; part = slash + 1) {
		int next;

		slash = strchr(part, '/');
		if (slash)
			*slash = '\0';
		if (!*part || !strcmp(part, ".") || !strcmp(part, "..") ||
		    strlen(part) > NAME_MAX || ++depth > DEPTH_MAX) {
			close(fd);
			if (slash)
				*slash = '/';
			return fail(err, "'%s' is no path below the folder",
				    u->path);
		}
		if (!slash)
			break;
		if (fd >= 0 && mkdirat(fd, part, 0700) < 0 && errno != EEXIST)
			goto refused;
		next = openat(fd, part,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			goto refused;
		close(fd);
		fd = next;
		*slash = '/';
	}
	if (fd < 0)
		fail(err, "cannot open the folder: %s", strerror(errno));
	*base = part;
	return fd;
refused:
	fail(err, "cannot create the folder '%s': %s", u->path,
	     strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static int begin_entry(struct unpacking *u, struct error *err)
{
	char *base;
	int ret = 0;
	int fd;

	if (!u->entries_left--)
		return fail(err, "too many files in the archive");
	if (u->kind == ARCHIVE_LINK ? u->left >= PATH_MAX || !u->left
				    : u->kind == ARCHIVE_FOLDER && u->left)
		return fail(err, "'%s' has an impossible size", u->path);
	if (u->left > u->bytes_left)
		return fail(err, "there is too much in the archive");
	u->bytes_left -= u->left;
	u->in_entry = true;
	u->target_len = 0;
	if (u->kind == ARCHIVE_LINK)
		return 0;
	fd = enter(u, &base, err);
	if (fd < 0)
		return -1;
	if (u->kind == ARCHIVE_FOLDER) {
		if (mkdirat(fd, base, 0700) < 0 && errno != EEXIST)
			ret = -1;
	} else {
		u->file = openat(fd, base,
				 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
					 O_CLOEXEC,
				 u->kind == ARCHIVE_PROGRAM ? 0700 : 0600);
		if (u->file < 0)
			ret = -1;
	}
	if (ret < 0)
		fail(err, "cannot create '%s': %s", u->path, strerror(errno));
	close(fd);
	return ret;
}

static int end_entry(struct unpacking *u, struct error *err)
{
	char *base;
	int fd, ret = 0;

	u->in_entry = false;
	u->header_len = 0;
	if (u->kind == ARCHIVE_LINK) {
		u->target[u->target_len] = '\0';
		if (memchr(u->target, 0, u->target_len))
			return fail(err, "'%s' has an impossible target",
				    u->path);
		fd = enter(u, &base, err);
		if (fd < 0)
			return -1;
		if (symlinkat(u->target, fd, base) < 0)
			ret = fail(err, "cannot create the link '%s': %s",
				   u->path, strerror(errno));
		close(fd);
	} else if (u->file >= 0) {
		if (close(u->file) < 0)
			ret = fail(err, "cannot write '%s': %s", u->path,
				   strerror(errno));
		u->file = -1;
	}
	return ret;
}

/* Takes up to `len` bytes of the entry's contents. */
static int add_contents(struct unpacking *u, const unsigned char *data,
			size_t len, struct error *err)
{
	if (u->kind == ARCHIVE_LINK) {
		memcpy(u->target + u->target_len, data, len);
		u->target_len += len;
	} else if (fd_write(u->file, data, len) < 0) {
		return fail(err, "cannot write '%s': %s", u->path,
			    strerror(errno));
	}
	u->left -= len;
	return 0;
}

/* The header's length as far as it is known. */
static size_t header_want(const struct unpacking *u)
{
	if (!u->header_len)
		return 1;
	if (u->header[0] == ARCHIVE_END)
		return 1;
	if (u->header_len < 5)
		return 5;
	return 5 + (size_t)get_int(u->header + 1, 4) + 8;
}

static int read_header(struct unpacking *u, struct error *err)
{
	size_t len = (size_t)get_int(u->header + 1, 4);

	memcpy(u->path, u->header + 5, len);
	u->path[len] = '\0';
	if (strlen(u->path) != len)
		return fail(err, "'%s' is no path below the folder", u->path);
	u->left = get_int(u->header + 5 + len, 8);
	return begin_entry(u, err);
}

/* One byte string of the header at a time. */
static int add_header(struct unpacking *u, const unsigned char **data,
		      size_t *len, struct error *err)
{
	size_t want = header_want(u);
	size_t n;

	if (want > sizeof(u->header) ||
	    (want > 5 && want - 13 >= sizeof(u->path)))
		return fail(err, "there is a path of impossible length");
	n = want - u->header_len < *len ? want - u->header_len : *len;
	memcpy(u->header + u->header_len, *data, n);
	u->header_len += n;
	*data += n;
	*len -= n;
	if (u->header_len == 1) {
		u->kind = (enum archive_kind)u->header[0];
		if (u->kind == ARCHIVE_END)
			u->done = true;
		else if (!strchr("fxld", u->header[0]) || !u->header[0])
			return fail(err, "it is not an archive");
	}
	if (u->header_len > 5 && u->header_len == header_want(u))
		return read_header(u, err);
	return 0;
}

int unpacking_add(struct unpacking *u, const void *bytes, size_t len,
		  struct error *err)
{
	const unsigned char *data = bytes;

	while (len) {
		size_t n;

		if (u->done)
			return fail(err, "it continues after its end");
		if (!u->in_entry) {
			if (add_header(u, &data, &len, err) < 0)
				return -1;
		} else {
			n = u->left < len ? (size_t)u->left : len;
			if (add_contents(u, data, n, err) < 0)
				return -1;
			data += n;
			len -= n;
		}
		if (u->in_entry && !u->left && end_entry(u, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- packing ---- */

struct packing {
	int to;
	char path[PATH_MAX]; /* of the entry, below the folder */
	char *block;
	struct error *err;
};

static int put(struct packing *p, enum archive_kind kind, uint64_t size)
{
	unsigned char header[ARCHIVE_HEADER_MAX];
	size_t len = archive_header(header, kind, p->path, size);

	if (fd_write(p->to, header, len) < 0)
		return fail(p->err, "cannot send '%s': %s", p->path,
			    strerror(errno));
	return 0;
}

static int pack_file(struct packing *p, int at, const char *name)
{
	int fd = openat(at, name,
			O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	uint64_t left;
	int ret = -1;

	if (fd < 0 || fstat(fd, &st) < 0) {
		fail(p->err, "cannot read '%s': %s", p->path, strerror(errno));
		goto out;
	}
	left = (uint64_t)st.st_size;
	if (put(p, st.st_mode & 0100 ? ARCHIVE_PROGRAM : ARCHIVE_FILE, left) <
	    0)
		goto out;
	while (left) {
		size_t want = left < BLOCK ? (size_t)left : BLOCK;
		ssize_t n = read(fd, p->block, want);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			fail(p->err, "cannot read '%s': %s", p->path,
			     strerror(errno));
			goto out;
		}
		if (n == 0) { /* the file became shorter */
			memset(p->block, 0, want);
			n = (ssize_t)want;
		}
		if (fd_write(p->to, p->block, (size_t)n) < 0) {
			fail(p->err, "cannot send '%s': %s", p->path,
			     strerror(errno));
			goto out;
		}
		left -= (uint64_t)n;
	}
	ret = 0;
out:
	if (fd >= 0)
		close(fd);
	return ret;
}

static int pack_link(struct packing *p, int at, const char *name)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(at, name, target, sizeof(target));

	if (len <= 0 || (size_t)len >= sizeof(target))
		return fail(p->err, "cannot read the link '%s'", p->path);
	if (put(p, ARCHIVE_LINK, (uint64_t)len) < 0)
		return -1;
	if (fd_write(p->to, target, (size_t)len) < 0)
		return fail(p->err, "cannot send '%s': %s", p->path,
			    strerror(errno));
	return 0;
}

static int pack_folder(struct packing *p, int fd, unsigned depth);

static int pack_entry(struct packing *p, int at, const char *name,
		      unsigned depth)
{
	struct stat st;
	int fd;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0
				       : fail(p->err, "cannot read '%s': %s",
					      p->path, strerror(errno));
	if (S_ISREG(st.st_mode))
		return pack_file(p, at, name);
	if (S_ISLNK(st.st_mode))
		return pack_link(p, at, name);
	if (!S_ISDIR(st.st_mode))
		return 0;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || depth >= DEPTH_MAX)
		return fail(p->err, "cannot read the folder '%s'", p->path);
	return pack_folder(p, fd, depth + 1);
}

/* Takes `fd`. */
static int pack_folder(struct packing *p, int fd, unsigned depth)
{
	size_t len = strlen(p->path);
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	bool empty = true;
	int ret = 0;

	if (!dir) {
		close(fd);
		return fail(p->err, "cannot read the folder '%s'", p->path);
	}
	while (!ret && (entry = readdir(dir))) {
		int n;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		empty = false;
		n = snprintf(p->path + len, sizeof(p->path) - len, "%s%s",
			     len ? "/" : "", entry->d_name);
		if ((size_t)n >= sizeof(p->path) - len)
			ret = fail(p->err, "a path is too long");
		else
			ret = pack_entry(p, dirfd(dir), entry->d_name, depth);
		p->path[len] = '\0';
	}
	if (!ret && empty && len)
		ret = put(p, ARCHIVE_FOLDER, 0);
	closedir(dir);
	return ret;
}

int archive_pack(const char *folder, int to, struct error *err)
{
	struct packing p = { .to = to, .err = err };
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return fail(err, "cannot read '%s': %s", folder,
			    strerror(errno));
	p.block = mem_alloc(BLOCK);
	ret = pack_folder(&p, fd, 0);
	if (!ret)
		ret = put(&p, ARCHIVE_END, 0);
	free(p.block);
	return ret;
}
