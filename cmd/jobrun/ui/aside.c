/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/ui/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"

int aside_start(struct aside *aside, void (*work)(void *arg, int out),
		void *arg, struct error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, "cannot create a pipe");
	aside->pid = fork();
	if (aside->pid == 0) {
		/* The process and its children end with this process. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		work(arg, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	aside->from = ends[0];
	aside->heard_ms = time_monotonic_ms();
	if (aside->pid > 0)
		return 0;
	close(aside->from);
	aside->from = -1;
	return error_errno(err, "cannot start a process");
}

void aside_report(int out, const void *report, size_t size)
{
	if (write(out, report, size) < 0)
		_exit(1);
}

bool aside_read(struct aside *aside, void *report, size_t size)
{
	ssize_t n;

	do
		n = read(aside->from, report, size);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)size) {
		aside_end(aside);
		return false;
	}
	aside->heard_ms = time_monotonic_ms();
	return true;
}

int64_t aside_left_ms(const struct aside *aside, int64_t silent_ms)
{
	int64_t left = aside->heard_ms + silent_ms - time_monotonic_ms();

	return left > 0 ? left : 0;
}

void aside_end(struct aside *aside)
{
	if (aside->from < 0)
		return;
	close(aside->from);
	aside->from = -1;
	kill(-aside->pid, SIGKILL);
	kill(aside->pid, SIGKILL);
	while (waitpid(aside->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
