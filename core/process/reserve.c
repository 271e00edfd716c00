/* SPDX-License-Identifier: Apache-2.0 */
#include "core/process/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/file.h"

#define BALLAST_SIZE (256 << 10)

struct rlimit reserve_files(void)
{
	struct rlimit before = { 0 }, more;

	getrlimit(RLIMIT_NOFILE, &before);
	more = before;
	more.rlim_cur = more.rlim_max;
	setrlimit(RLIMIT_NOFILE, &more);
	return before;
}

int reserve_take(const char *home, struct error *err)
{
	char *path = path_join(home, "ballast");
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int why = fd < 0 ? errno : posix_fallocate(fd, 0, BALLAST_SIZE);

	if (fd >= 0)
		close(fd);
	if (why)
		unlink(path);
	free(path);
	/* Exceeding a limit on the size of files is no such failure. */
	if (why != ENOSPC && why != EDQUOT)
		return 0;
	errno = why;
	return error_errno(err,
			   "no %d KiB left in '%s' to record the run's end in",
			   BALLAST_SIZE >> 10, home);
}

void reserve_drop(const char *home)
{
	char *path = path_join(home, "ballast");

	unlink(path);
	free(path);
}
