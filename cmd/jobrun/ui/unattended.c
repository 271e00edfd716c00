/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/unattended.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/process/process.h"

/* Returns the exit status that the child reports, or ends with. */
static int await(pid_t child, int fd)
{
	unsigned char released;
	ssize_t n;
	int status;

	/* A Ctrl-C reaches the child as well, which decides what comes of
	 * it. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	do
		n = read(fd, &released, 1);
	while (n < 0 && errno == EINTR);
	close(fd);
	if (n == 1)
		return released;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return process_exit_code(status);
}

int unattended_begin(struct unattended *it, int *status, struct error *err)
{
	pid_t parent = getpid(), child;
	int ends[2];

	it->fd = -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, "cannot make a pipe");
	child = fork();
	if (child < 0) {
		error_errno(err, "cannot start a process");
		close(ends[0]);
		close(ends[1]);
		return -1;
	}
	if (child > 0) {
		close(ends[1]);
		*status = await(child, ends[0]);
		return 1;
	}
	/* Nothing that the caller's caller waits for stays open here. */
	close(ends[0]);
	if (ends[1] > 3)
		syscall(SYS_close_range, 3, ends[1] - 1, 0);
	syscall(SYS_close_range, ends[1] + 1, ~0U, 0);
	it->fd = ends[1];
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		raise(SIGTERM);
	return 0;
}

void unattended_release(struct unattended *it, int status)
{
	unsigned char byte = (unsigned char)status;
	int null, i;

	if (it->fd < 0)
		return;
	/* The parent's end must not be the end of this process. */
	prctl(PR_SET_PDEATHSIG, 0);
	setsid();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	if (null > 2)
		close(null);
	/* A parent that is gone already needs no answer. */
	if (write(it->fd, &byte, 1) < 0)
		errno = 0;
	close(it->fd);
	it->fd = -1;
}
