/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/file_watch.h"

#include <errno.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define TICK_NS 250000000

static int tick(void)
{
	const struct itimerspec each = { .it_interval.tv_nsec = TICK_NS,
					 .it_value.tv_nsec = TICK_NS };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0 && timerfd_settime(fd, 0, &each, NULL) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int file_watch_new(void)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	return fd < 0 && errno == EMFILE ? tick() : fd;
}

int file_watch_add(int watch, const char *path, uint32_t events)
{
	if (inotify_add_watch(watch, path, events) >= 0)
		return 0;
	/* A timer has nothing to add to; a file that is not there yet is as
	 * missing for it. */
	return errno == EINVAL ? access(path, F_OK) : -1;
}
