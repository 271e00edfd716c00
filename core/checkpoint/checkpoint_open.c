/* SPDX-License-Identifier: Apache-2.0 */
#include "core/checkpoint/checkpoint_open.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "core/checkpoint/checkpoint.h"

/* Whether somebody has the file open for writing: the kernel then refuses a
 * read lease.  The lease is given back at once; a writer that comes in between
 * waits until then, and the kernel sends us SIGIO. */
static bool is_open(int folder, const char *path)
{
	int fd = openat(folder, path,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	bool refused;

	if (fd < 0)
		return false;
	refused = fcntl(fd, F_SETLEASE, F_RDLCK) < 0 && errno == EAGAIN;
	if (!refused)
		fcntl(fd, F_SETLEASE, F_UNLCK);
	close(fd);
	return refused;
}

bool checkpoint_is_open(int folder, const struct checkpoint *what)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	bool open = false;

	sigaction(SIGIO, &ignore, &before);
	for (size_t i = 0; !open && i < what->file_count; i++)
		open = !what->files[i].link &&
		       is_open(folder, what->files[i].path);
	sigaction(SIGIO, &before, NULL);
	return open;
}
