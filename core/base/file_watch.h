/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files watched for changes, by inotify.  A user has few instances of it
 * (128, /proc/sys/fs/inotify/max_user_instances), which many runs use up;
 * then the descriptor is that of a timer, and its owner looks at each tick.
 */
#ifndef JOBRUN_FILE_WATCH_H
#define JOBRUN_FILE_WATCH_H

#include <stdint.h>

/* A descriptor that does not block and is readable after a change; what is read
 * says nothing.  -1: errno says why. */
int file_watch_new(void);
/* As inotify_add_watch(2), but the result is 0 or -1. */
int file_watch_add(int watch, const char *path, uint32_t events);

#endif
