/* SPDX-License-Identifier: Apache-2.0 */
#include "core/data/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/beneath.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/data/archive_library.h"

#define BYTES_MAX (UINT64_C(8) << 30)
#define ENTRY_COUNT_MAX 200000
#define BLOCK_SIZE 65536

struct unpack {
	const char *path; /* of the archive, for messages */
	const struct archive_library *lib;
	struct archive *archive;
	struct archive_limits left;
	int root; /* the folder */
	/* The folder of the last entry, as the next one is mostly in it,
	 * too. */
	int parent;
	char parent_path[PATH_MAX];
	char shown[200]; /* the entry's name, fit for a message */
	char block[BLOCK_SIZE];
};

static void show(struct unpack *unpack, const char *name)
{
	snprintf(unpack->shown, sizeof(unpack->shown), "%s", name);
	text_make_printable(unpack->shown);
}

static int refuse(const struct unpack *unpack, const char *why,
		  struct error *err)
{
	return error_set(err, ERROR_INVALID, "'%s': entry '%s' %s",
			 unpack->path, unpack->shown, why);
}

static int fail(const struct unpack *unpack, struct error *err)
{
	return error_errno(err, "'%s': cannot unpack '%s'", unpack->path,
			   unpack->shown);
}

/* libarchive's message may quote the entry, so it is cleaned too. */
static int fail_read(struct unpack *unpack, struct error *err)
{
	const char *why = unpack->lib->error_string(unpack->archive);

	error_set(err, ERROR_INVALID, "cannot unpack '%s': %s", unpack->path,
		  why ? why : "it can't be read");
	text_make_printable(err->text);
	return -1;
}

/* `what` is the subject of the refusal. */
static int clean_path(const struct unpack *unpack, const char *name,
		      const char *what, char out[PATH_MAX], struct error *err)
{
	const char *wrong = path_clean(name, out);
	char why[80];

	if (!wrong)
		return 0;
	snprintf(why, sizeof(why), "%s %s", what, wrong);
	return refuse(unpack, why, err);
}

/* Opens a folder below the root, through folders only.  Returns -1 with errno
 * set; ELOOP and ENOTDIR mean that something other than a folder is there. */
static int open_folder(int root, const char *path, bool make)
{
	char name[NAME_MAX + 1];
	int fd = fcntl(root, F_DUPFD_CLOEXEC, 0);
	size_t n;

	for (; fd >= 0 && *path; path += n + (path[n] == '/')) {
		int next;

		n = strcspn(path, "/");
		memcpy(name, path, n);
		name[n] = '\0';
		next = openat(fd, name,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0 && errno == ENOENT && make &&
		    mkdirat(fd, name, 0700) == 0)
			next = openat(fd, name,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
					      O_CLOEXEC);
		close(fd);
		fd = next;
	}
	return fd;
}

/* Opens the folder that an entry goes into, and sets its name there. */
static int enter(struct unpack *unpack, char *path, const char **base,
		 struct error *err)
{
	char *slash = strrchr(path, '/');
	const char *folder = slash ? path : "";

	if (slash)
		*slash = '\0';
	*base = slash ? slash + 1 : path;
	if (unpack->parent >= 0 && !strcmp(folder, unpack->parent_path))
		return 0;
	if (unpack->parent >= 0)
		close(unpack->parent);
	unpack->parent = open_folder(unpack->root, folder, true);
	strcpy(unpack->parent_path, folder);
	if (unpack->parent >= 0)
		return 0;
	if (errno == ELOOP || errno == ENOTDIR)
		return refuse(unpack, "is below a link or a file", err);
	return fail(unpack, err);
}

/* Removes an existing entry: as with tar, the last of two with one name
 * wins. */
static int make_way(struct unpack *unpack, const char *base, struct error *err)
{
	if (unlinkat(unpack->parent, base, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno == EISDIR)
		return refuse(unpack, "has the name of a folder", err);
	return fail(unpack, err);
}

static int write_data(struct unpack *unpack, int fd, struct error *err)
{
	for (;;) {
		la_ssize_t n = unpack->lib->data(unpack->archive, unpack->block,
						 sizeof(unpack->block));

		if (n < 0)
			return fail_read(unpack, err);
		if (n == 0)
			return 0;
		if ((uint64_t)n > unpack->left.bytes)
			return error_set(err, ERROR_INVALID,
					 "'%s' unpacks to more than the "
					 "allowed number of bytes, at '%s'",
					 unpack->path, unpack->shown);
		unpack->left.bytes -= (uint64_t)n;
		if (fd_write(fd, unpack->block, (size_t)n) < 0)
			return fail(unpack, err);
	}
}

static int make_file(struct unpack *unpack, const char *base, bool executable,
		     struct error *err)
{
	int ret;
	int fd;

	if (make_way(unpack, base, err) < 0)
		return -1;
	fd = openat(unpack->parent, base,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail(unpack, err);
	ret = write_data(unpack, fd, err);
	if (ret == 0 && executable && fchmod(fd, 0700) < 0)
		ret = fail(unpack, err);
	if (close(fd) < 0 && ret == 0)
		ret = fail(unpack, err);
	return ret;
}

/*
 * Whether a link's target stays inside: it may go up first, at most to the top,
 * and then only down, as a ".." after a name could go up from where another
 * link has led.
 */
static bool stays_inside(const char *path, const char *target)
{
	unsigned depth = 0;
	bool down = false;
	size_t n;

	for (; *path; path++)
		depth += *path == '/';
	if (target[0] == '/' || !target[0])
		return false;
	for (; *target; target += n + (target[n] == '/')) {
		n = strcspn(target, "/");
		if (n == 0 || (n == 1 && target[0] == '.'))
			continue;
		if (n == 2 && target[0] == '.' && target[1] == '.') {
			if (down || depth-- == 0)
				return false;
		} else {
			down = true;
		}
	}
	return true;
}

static int make_link(struct unpack *unpack, const char *base,
		     const char *target, struct error *err)
{
	if (make_way(unpack, base, err) < 0)
		return -1;
	if (symlinkat(target, unpack->parent, base) < 0)
		return fail(unpack, err);
	return 0;
}

static int make_hard_link(struct unpack *unpack, const char *base, char *target,
			  struct error *err)
{
	char *slash = strrchr(target, '/');
	const char *name = slash ? slash + 1 : target;
	struct stat st;
	int ret = -1;
	int fd;

	if (slash)
		*slash = '\0';
	fd = open_folder(unpack->root, slash ? target : "", false);
	if (fd < 0 || fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode)) {
		refuse(unpack,
		       "is a link to something that is not a file of "
		       "the archive",
		       err);
		goto out;
	}
	/* If the link and its target are one file, make_way() would delete
	 * it. */
	if (fstatat(unpack->parent, base, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		struct stat to;

		if (fstatat(fd, name, &to, AT_SYMLINK_NOFOLLOW) == 0 &&
		    to.st_ino == st.st_ino) {
			ret = 0;
			goto out;
		}
	}
	if (make_way(unpack, base, err) < 0)
		goto out;
	if (linkat(fd, name, unpack->parent, base, 0) < 0)
		fail(unpack, err);
	else
		ret = 0;
out:
	if (fd >= 0)
		close(fd);
	return ret;
}

static int make_folder(struct unpack *unpack, const char *base,
		       struct error *err)
{
	struct stat st;

	if (mkdirat(unpack->parent, base, 0700) == 0)
		return 0;
	if (errno != EEXIST)
		return fail(unpack, err);
	if (fstatat(unpack->parent, base, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(unpack, err);
	if (!S_ISDIR(st.st_mode))
		return refuse(unpack, "is a folder in place of a file", err);
	return 0;
}

/* Prefer the UTF-8 name; fall back to the raw bytes. */
static const char *text_of(const char *utf8, const char *bytes)
{
	return utf8 ? utf8 : bytes;
}

static int make_entry(struct unpack *unpack, struct archive_entry *entry,
		      struct error *err)
{
	const struct archive_library *lib = unpack->lib;
	const char *name =
		text_of(lib->pathname_utf8(entry), lib->pathname(entry));
	const char *hard =
		text_of(lib->hardlink_utf8(entry), lib->hardlink(entry));
	const char *target =
		text_of(lib->symlink_utf8(entry), lib->symlink(entry));
	char path[PATH_MAX], to[PATH_MAX];
	mode_t type = lib->filetype(entry);
	const char *base;

	show(unpack, name ? name : "");
	if (!name || !name[0])
		return refuse(unpack, "has an unreadable name", err);
	if (clean_path(unpack, name, "has", path, err) < 0)
		return -1;
	if (hard && clean_path(unpack, hard, "links to", to, err) < 0)
		return -1;
	if (!hard && type == AE_IFLNK &&
	    (!target || !stays_inside(path, target)))
		return refuse(unpack, "is a link that leads out", err);
	if (!path[0])
		return type == AE_IFDIR ? 0
					: refuse(unpack, "has no name", err);
	if (enter(unpack, path, &base, err) < 0)
		return -1;
	if (hard)
		return make_hard_link(unpack, base, to, err);
	switch (type) {
	case AE_IFREG:
		return make_file(unpack, base, lib->perm(entry) & 0111, err);
	case AE_IFDIR:
		return make_folder(unpack, base, err);
	case AE_IFLNK:
		return make_link(unpack, base, target, err);
	default:
		return refuse(unpack, "is not a file, folder or link", err);
	}
}

static int read_entries(struct unpack *unpack, struct error *err)
{
	struct archive_entry *entry;
	size_t count = 0;
	int code;

	for (;; count++) {
		code = unpack->lib->next_header(unpack->archive, &entry);
		if (code == ARCHIVE_EOF)
			break;
		/* libarchive warns about a name that it cannot decode. */
		if (code != ARCHIVE_OK && code != ARCHIVE_WARN)
			return fail_read(unpack, err);
		if (unpack->left.entries-- == 0)
			return error_set(err, ERROR_INVALID,
					 "'%s' has more than the allowed "
					 "number of entries",
					 unpack->path);
		if (make_entry(unpack, entry, err) < 0)
			return -1;
	}
	if (!count)
		return error_set(err, ERROR_INVALID, "'%s' is empty",
				 unpack->path);
	return 0;
}

/* `fd` is the archive, `unpack->root` the destination. */
static int read_archive(struct unpack *unpack, int fd, struct error *err)
{
	const struct archive_library *lib = unpack->lib;
	int ret = -1;

	unpack->archive = lib->read_new();
	if (!unpack->archive)
		return error_set(err, ERROR_FAILED, "libarchive fails");
	lib->tar(unpack->archive);
	lib->zip(unpack->archive);
	archive_library_filters(unpack->archive);
	if (lib->open_fd(unpack->archive, fd, BLOCK_SIZE) != ARCHIVE_OK)
		fail_read(unpack, err);
	else
		ret = read_entries(unpack, err);
	lib->free(unpack->archive);
	return ret;
}

/* Makes an empty folder beside the final one; returns its name, new. */
static char *make_beside(const char *folder, struct error *err)
{
	char *parent = path_folder(folder);
	char *beside = mem_printf("%s.XXXXXX", folder);
	int ret = folder_make(parent, err);

	if (ret == 0 && !mkdtemp(beside))
		ret = error_errno(err, "cannot create directory '%s'", folder);
	free(parent);
	if (ret == 0)
		return beside;
	free(beside);
	return NULL;
}

int archive_unpack(const char *path, const char *root, const char *folder,
		   const struct archive_limits *limits, struct error *err)
{
	const struct archive_library *lib = archive_library_open(err);
	struct unpack *unpack = NULL;
	struct error ignored;
	char *beside = NULL;
	int ret = -1;
	int fd = -1;

	if (!lib)
		return -1;
	unpack = mem_alloc(sizeof(*unpack));
	unpack->path = path;
	unpack->lib = lib;
	unpack->parent = -1;
	unpack->root = -1;
	unpack->left =
		limits ? *limits
		       : (struct archive_limits){ BYTES_MAX, ENTRY_COUNT_MAX };
	fd = beneath_open_file(root, path, err);
	if (fd < 0)
		goto out;
	beside = make_beside(folder, err);
	if (!beside)
		goto out;
	unpack->root = open(beside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (unpack->root < 0) {
		error_errno(err, "cannot open '%s'", beside);
		goto out;
	}
	if (read_archive(unpack, fd, err) < 0)
		goto out;
	if (rename(beside, folder) < 0) {
		error_errno(err, "cannot unpack '%s' to '%s'", path, folder);
		goto out;
	}
	ret = 0;
out:
	if (ret < 0 && beside)
		folder_remove(beside, &ignored);
	free(beside);
	if (unpack->parent >= 0)
		close(unpack->parent);
	if (unpack->root >= 0)
		close(unpack->root);
	if (fd >= 0)
		close(fd);
	free(unpack);
	return ret;
}
