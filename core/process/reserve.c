/* SPDX-License-Identifier: Apache-2.0 */
#include "core/process/reserve.h"

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

void reserve_take(const char *home)
{
	char *path = path_join(home, "ballast");
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0) {
		if (posix_fallocate(fd, 0, BALLAST_SIZE) != 0)
			unlink(path);
		close(fd);
	}
	free(path);
}

void reserve_drop(const char *home)
{
	char *path = path_join(home, "ballast");

	unlink(path);
	free(path);
}
