/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"

const char *path_below(const char *folder, const char *path)
{
	size_t n = strlen(folder);

	if (strncmp(path, folder, n) != 0)
		return NULL;
	if (n && folder[n - 1] == '/')
		return path + n;
	return path[n] == '/' ? path + n + 1 : path[n] ? NULL : path + n;
}

bool path_has_git(const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 4 && !strncmp(path, ".git", 4))
			return true;
		path += n;
		path += *path == '/';
	}
	return false;
}

/* Opens a path without links below an open folder, which it closes.  openat2()
 * would do it in one call, but not every kernel has it. */
static int walk(int fd, const char *path, int flags)
{
	char name[NAME_MAX + 1];

	for (;;) {
		size_t n = strcspn(path, "/");
		bool last = !path[n];
		int next, why;

		if (n > NAME_MAX) {
			close(fd);
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(name, path, n);
		name[n] = '\0';
		next = openat(fd, n ? name : ".",
			      O_NOFOLLOW | O_CLOEXEC |
				      (last ? flags : O_PATH | O_DIRECTORY));
		why = errno;
		close(fd);
		errno = why;
		if (next < 0 || last)
			return next;
		fd = next;
		path += n + 1;
	}
}

char *beneath_find(const char *root, const char *path, struct error *err)
{
	char *real = realpath(path, NULL);
	const char *rest = real && root ? path_below(root, real) : "";

	if (!real) {
		error_errno(err, "cannot open '%s'", path);
	} else if (!rest || path_has_git(rest)) {
		error_set(err, ERROR_INVALID, "'%s' leads out of '%s'", path,
			  root);
		free(real);
		real = NULL;
	}
	return real;
}

int beneath_open_found(const char *real, int flags)
{
	/* Folders above the root may be a stranger's as well. */
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -1 : walk(fd, real + 1, flags);
}

int beneath_open(const char *root, const char *path, int flags,
		 struct error *err)
{
	char *real;
	int fd;

	if (!root) {
		fd = open(path, flags | O_CLOEXEC);
	} else {
		real = beneath_find(root, path, err);
		if (!real)
			return -1;
		fd = beneath_open_found(real, flags);
		free(real);
	}
	return fd < 0 ? error_errno(err, "cannot open '%s'", path) : fd;
}

/* Takes the descriptor, unless it is of a regular file. */
static int check_file(int fd, const char *path, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return error_set(err, ERROR_FAILED, "'%s' is not a regular file", path);
}

int beneath_open_file(const char *root, const char *path, struct error *err)
{
	struct stat st;
	int fd;

	if (!root)
		return file_open(path, err);
	/* Do not even open anything that is not a regular file. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return file_open(path, err);
	fd = beneath_open(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, err);
	return fd < 0 ? -1 : check_file(fd, path, err);
}

int beneath_open_found_file(const char *real, struct error *err)
{
	int fd = beneath_open_found(real, O_RDONLY | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return error_errno(err, "cannot open '%s'", real);
	return check_file(fd, real, err);
}

char *beneath_read(const char *root, const char *path, size_t max, size_t *len,
		   struct error *err)
{
	int fd = beneath_open_file(root, path, err);
	char *data = NULL;

	if (fd >= 0) {
		data = file_read_fd(fd, path, max, len, err);
		close(fd);
	}
	return data;
}
