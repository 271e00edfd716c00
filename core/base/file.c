/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/text.h"

#define DEPTH_MAX 64
#define PIPES 0x50495045 /* PIPEFS_MAGIC of statfs(2) */

char *file_read_fd(int fd, const char *path, size_t max, size_t *len,
		   struct error *err)
{
	struct buf buf = { 0 };
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0) {
		error_errno(err, "cannot read '%s'", path);
		return NULL;
	}
	if (S_ISDIR(st.st_mode)) {
		error_set(err, ERROR_FAILED, "'%s' is a directory", path);
		return NULL;
	}
	if (S_ISREG(st.st_mode) && (size_t)st.st_size <= max)
		buf_reserve(&buf, (size_t)st.st_size + 1);
	for (;;) {
		size_t room = buf.size - buf.len;

		if (room < 4096)
			room = 4096;
		/* One byte more than allowed is enough to detect an excess. */
		if (room - 1 > max - buf.len)
			room = max - buf.len + 1;
		n = read(fd, buf_reserve(&buf, room), room);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		buf.len += (size_t)n;
		if (buf.len > max) {
			error_set(err, ERROR_INVALID,
				  "'%s' is larger than %zu bytes", path, max);
			buf_done(&buf);
			return NULL;
		}
	}
	if (n < 0) {
		error_errno(err, "cannot read '%s'", path);
		buf_done(&buf);
		return NULL;
	}
	*len = buf.len;
	buf_reserve(&buf, 1);
	buf.data[buf.len] = '\0';
	return buf_take(&buf);
}

/* Refuses a file that is not regular, saying what it is. */
static int check_regular(const char *path, const struct stat *st,
			 struct error *err)
{
	if (S_ISREG(st->st_mode) ||
	    (S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3)))
		return 0;
	return error_set(err, ERROR_FAILED, "'%s' is %s", path,
			 S_ISDIR(st->st_mode)    ? "a directory"
			 : S_ISFIFO(st->st_mode) ? "a pipe, not a file"
			 : S_ISSOCK(st->st_mode) ? "a socket, not a file"
						 : "a device, not a file");
}

/* Opens a file that stat() has just told of. */
static int open_looked_at(const char *path, struct stat *st, struct error *err)
{
	int fd;

	if (check_regular(path, st, err) < 0)
		return -1;
	/* By now the name may refer to something else, and opening some kernel
	 * files can block, too. */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, "cannot open '%s'", path);
	if (fstat(fd, st) < 0)
		error_errno(err, "cannot open '%s'", path);
	else if (check_regular(path, st, err) == 0)
		return fd;
	close(fd);
	return -1;
}

int file_open(const char *path, struct error *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return error_errno(err, "cannot open '%s'", path);
	return open_looked_at(path, &st, err);
}

char *file_read(const char *path, size_t max, size_t *len, struct error *err)
{
	int fd = file_open(path, err);
	char *data;

	if (fd < 0)
		return NULL;
	data = file_read_fd(fd, path, max, len, err);
	close(fd);
	return data;
}

char *file_read_argument(const char *path, size_t max, size_t *len,
			 struct error *err)
{
	struct statfs fs;
	struct stat st;
	char *data;
	int fd;

	if (stat(path, &st) < 0) {
		error_errno(err, "cannot open '%s'", path);
		return NULL;
	}
	if (S_ISFIFO(st.st_mode) && statfs(path, &fs) == 0 &&
	    fs.f_type == PIPES) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			error_errno(err, "cannot open '%s'", path);
	} else {
		fd = open_looked_at(path, &st, err);
	}
	if (fd < 0)
		return NULL;
	data = file_read_fd(fd, path, max, len, err);
	close(fd);
	return data;
}

void fd_close_from(int first)
{
	struct rlimit files = { 0 };

	/* Not every C library has closefrom(), nor every kernel this call. */
	if (syscall(SYS_close_range, first, ~0U, 0) == 0 ||
	    getrlimit(RLIMIT_NOFILE, &files) < 0)
		return;
	for (rlim_t fd = (rlim_t)first; fd < files.rlim_cur; fd++)
		close((int)fd);
}

int fd_write(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int file_nameless(const char *prefix, const char *what, struct error *err)
{
	const char *parent = getenv("TMPDIR");
	char *path = path_join(parent && *parent ? parent : "/tmp", prefix);
	char *name = mem_printf("%s-XXXXXX", path);
	int fd = mkostemp(name, O_CLOEXEC);

	if (fd < 0)
		error_errno(err, "cannot create '%s' for '%s'", name, what);
	else
		unlink(name);
	free(name);
	free(path);
	return fd;
}

/* Writes a new file beside `path` and syncs it.  Returns its name, new, or
 * NULL. */
static char *write_beside(const char *path, unsigned mode, const void *data,
			  size_t len, struct error *err)
{
	char *beside = mem_printf("%s.XXXXXX", path);
	int fd = mkostemp(beside, O_CLOEXEC);

	if (fd < 0) {
		error_errno(err, "cannot create '%s'", path);
		free(beside);
		return NULL;
	}
	if (fd_write(fd, data, len) < 0 || fchmod(fd, mode) < 0 ||
	    fsync(fd) < 0) {
		error_errno(err, "cannot write '%s'", path);
		unlink(beside);
		free(beside);
		beside = NULL;
	}
	close(fd);
	return beside;
}

int folder_sync(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int ret = fd < 0 ? -1 : fsync(fd);

	if (fd >= 0)
		close(fd);
	return ret;
}

/* Ignores failure: not every file system can, and the file exists anyway. */
static void keep_name(const char *path)
{
	char *folder = path_folder(path);

	folder_sync(folder);
	free(folder);
}

int file_write(const char *path, const void *data, size_t len,
	       struct error *err)
{
	char *beside = write_beside(path, 0600, data, len, err);
	int ret = -1;

	if (!beside)
		return -1;
	ret = rename(beside, path);
	if (ret < 0) {
		error_errno(err, "cannot write '%s'", path);
		unlink(beside);
	} else {
		keep_name(path);
	}
	free(beside);
	return ret;
}

int file_create(const char *path, unsigned mode, const void *data, size_t len,
		struct error *err)
{
	char *beside;
	struct stat st;
	int ret;

	if (lstat(path, &st) == 0)
		return 1;
	beside = write_beside(path, mode, data, len, err);
	if (!beside)
		return -1;
	ret = link(beside, path);
	/* The file system has no hard links: on such a one, a file that appears
	 * at this very moment is lost. */
	if (ret < 0 && (errno == EPERM || errno == EOPNOTSUPP) &&
	    lstat(path, &st) < 0)
		ret = rename(beside, path);
	if (ret < 0 && errno == EEXIST)
		ret = 1;
	else if (ret < 0)
		error_errno(err, "cannot create '%s'", path);
	unlink(beside);
	if (ret == 0)
		keep_name(path);
	free(beside);
	return ret;
}

int folder_make(const char *path, struct error *err)
{
	return folder_make_mode(path, 0700, err);
}

int folder_make_mode(const char *path, unsigned mode, struct error *err)
{
	char *copy = mem_strdup(path);
	struct stat st;
	char *p;
	int ret = -1;

	for (p = copy;; p++) {
		char c = *p;

		if ((c != '/' && c != '\0') || (c && p == copy))
			continue;
		*p = '\0';
		if (mkdir(copy, mode) < 0 && errno != EEXIST) {
			/* A read-only parent that exists is no obstacle. */
			int saved = errno;

			if (stat(copy, &st) < 0 || !S_ISDIR(st.st_mode)) {
				errno = saved;
				error_errno(err, "cannot create directory '%s'",
					    copy);
				goto out;
			}
		}
		*p = c;
		if (!c)
			break;
	}
	if (stat(copy, &st) < 0 || !S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		error_errno(err, "cannot create directory '%s'", copy);
		goto out;
	}
	ret = 0;
out:
	free(copy);
	return ret;
}

static int remove_at(int parent, const char *name)
{
	struct dirent *entry;
	int why = 0; /* the errno of the first failure */
	DIR *dir;
	int fd;

	if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	fd = openat(parent, name,
		    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -1;
	}
	while ((entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (remove_at(dirfd(dir), entry->d_name) < 0 && !why)
			why = errno;
	}
	closedir(dir);
	if (!why && unlinkat(parent, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		why = errno;
	errno = why;
	return why ? -1 : 0;
}

int folder_remove(const char *path, struct error *err)
{
	if (remove_at(AT_FDCWD, path) < 0)
		return error_errno(err, "cannot remove '%s'", path);
	return 0;
}

char *path_join(const char *folder, const char *name)
{
	size_t n = strlen(folder);

	if (name[0] == '/')
		return mem_strdup(name);
	while (name[0] == '.' && name[1] == '/')
		for (name += 2; name[0] == '/'; name++)
			;
	if (!n)
		return mem_strdup(name[0] ? name : ".");
	if (!name[0] || !strcmp(name, "."))
		return mem_strdup(folder);
	return mem_printf("%s%s%s", folder, folder[n - 1] == '/' ? "" : "/",
			  name);
}

char *path_absolute(const char *path)
{
	char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);
	/* Without a working directory, as when it was deleted, a path stays as
	 * it is. */
	char *out = path_join(here ? here : "", path);

	free(here);
	return out;
}

char *path_at_home(const char *path)
{
	const char *home = getenv("HOME");

	if (!text_starts(path, "~/") || !home || *home != '/')
		return NULL;
	return path_join(home, path + 2);
}

char *path_relative(const char *folder, const char *path)
{
	struct buf out = { 0 };
	size_t i, same = 0;

	if (!strcmp(folder, "."))
		folder = "";
	while (text_starts(path, "./"))
		path += 2;
	/* Find the path components they have in common. */
	for (i = 0;; i++) {
		if ((!folder[i] || folder[i] == '/') && path[i] == '/')
			same = i + 1;
		if (!folder[i] || folder[i] != path[i])
			break;
	}
	if (!folder[0])
		same = 0;
	if ((folder[0] == '/') != (path[0] == '/'))
		return mem_strdup(path);
	for (i = same; i < strlen(folder); i += strcspn(folder + i, "/") + 1) {
		if (text_starts(folder + i, ".."))
			goto unknown;
		buf_puts(&out, "../");
	}
	buf_puts(&out, path + same);
	return buf_take(&out);
unknown:
	buf_done(&out);
	return mem_strdup(path);
}

const char *path_clean(const char *name, char out[PATH_MAX])
{
	unsigned depth = 0;
	size_t len = 0, n;

	if (name[0] == '/')
		return "an absolute path";
	for (; *name; name += n + (name[n] == '/')) {
		n = strcspn(name, "/");
		if (n == 0 || (n == 1 && name[0] == '.'))
			continue;
		if (n == 2 && name[0] == '.' && name[1] == '.')
			return "a path with '..'";
		if (++depth > DEPTH_MAX || n > NAME_MAX ||
		    len + n + 2 > PATH_MAX)
			return "too long a path";
		if (len)
			out[len++] = '/';
		memcpy(out + len, name, n);
		len += n;
	}
	out[len] = '\0';
	return NULL;
}

char *path_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return mem_strdup(".");
	if (slash == path)
		return mem_strdup("/");
	return mem_printf("%.*s", (int)(slash - path), path);
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *file_find_program(const char *path, const char *name)
{
	struct stat st;

	while (path && *path) {
		size_t len = strcspn(path, ":");
		char *file = mem_printf("%.*s/%s", (int)len, path, name);

		if (len && stat(file, &st) == 0 && S_ISREG(st.st_mode) &&
		    access(file, X_OK) == 0)
			return file;
		free(file);
		path += len + (path[len] == ':');
	}
	return NULL;
}
