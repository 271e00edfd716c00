/* SPDX-License-Identifier: Apache-2.0 */
#include "core/process/run_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/store/store.h"

static int take(const char *folder, bool wait, struct error *err)
{
	char *path = path_join(folder, STORE_RUN_LOCK);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	int ret = -1;

	if (fd < 0) {
		error_errno(err, "cannot create '%s'", path);
		goto out;
	}
	/* A process that only looks holds it briefly: wait. */
	do {
		ret = flock(fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB);
	} while (ret < 0 && errno == EINTR);
	if (ret < 0)
		error_errno(err, "cannot lock '%s'", path);
	else
		ret = run_lock_set_pid(fd, 0, err);
out:
	if (ret < 0 && fd >= 0)
		close(fd);
	free(path);
	return ret < 0 ? -1 : fd;
}

int run_lock_take(const char *folder, struct error *err)
{
	return take(folder, true, err);
}

int run_lock_try(const char *folder, struct error *err)
{
	return take(folder, false, err);
}

int run_lock_set_pid(int fd, pid_t pid, struct error *err)
{
	char text[32];
	/* The length is fixed, so that one write replaces the text, and a full
	 * disk has room for it. */
	int len = snprintf(text, sizeof(text), "%-20ld\n", (long)pid);
	ssize_t n;

	do {
		n = pwrite(fd, text, (size_t)len, 0);
	} while (n < 0 && errno == EINTR);
	if (n == len)
		return 0;
	if (n >= 0)
		errno = ENOSPC;
	return error_errno(err, "cannot write the run's lock");
}

int run_lock_look(const char *folder, pid_t *pid, int *shared,
		  struct error *err)
{
	char *path = path_join(folder, STORE_RUN_LOCK);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[32] = "";
	int ret = -1;

	*pid = 0;
	if (fd < 0 && errno == ENOENT)
		ret = 0;
	else if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0)
		ret = 0;
	else if (fd >= 0 && errno == EWOULDBLOCK)
		ret = 1;
	if (ret >= 0 && fd >= 0) {
		if (pread(fd, text, sizeof(text) - 1, 0) < 0)
			ret = -1;
		*pid = (pid_t)atol(text);
	}
	if (ret == 0 && shared) {
		*shared = fd;
		fd = -1;
	}
	if (ret < 0) {
		error_errno(err, "cannot look at '%s'", path);
		/* An error such as too many open files says nothing about the
		 * run. */
		if (err->code == ERROR_FAILED)
			err->code = ERROR_TRY_AGAIN;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return ret;
}
