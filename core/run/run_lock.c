/* SPDX-License-Identifier: Apache-2.0 */
#include "core/run/run_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/file.h"

int run_lock_take(const char *folder, struct error *err)
{
	char *path = path_join(folder, "lock");
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	int ret;

	if (fd < 0) {
		error_errno(err, "cannot create '%s'", path);
		goto out;
	}
	/* Who only looks holds it for a moment, so this may wait. */
	do {
		ret = flock(fd, LOCK_EX);
	} while (ret < 0 && errno == EINTR);
	if (ret < 0) {
		error_errno(err, "cannot lock '%s'", path);
		close(fd);
		fd = -1;
	}
out:
	free(path);
	return fd;
}

int run_lock_set_pid(int fd, pid_t pid)
{
	char text[32];
	/* Of one length, so that it is replaced in one write. */
	int len = snprintf(text, sizeof(text), "%-20ld\n", (long)pid);

	return pwrite(fd, text, (size_t)len, 0) == len ? 0 : -1;
}

pid_t run_lock_holder(const char *folder)
{
	char *path = path_join(folder, "lock");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[32] = "";
	pid_t pid = 0;

	free(path);
	if (fd < 0)
		return 0;
	if (flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK &&
	    pread(fd, text, sizeof(text) - 1, 0) > 0)
		pid = (pid_t)atol(text);
	close(fd);
	return pid;
}
