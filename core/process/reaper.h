/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The children of this process, as they end: those that somebody waits for,
 * and those that fell to it because their parents died (it is a subreaper).
 * One per process, as waiting for any child is.
 */
#ifndef JOBRUN_REAPER_H
#define JOBRUN_REAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct reaper;

/* `status` is as waitpid() gives it. */
typedef void reaper_call(void *arg, int status);

struct reaper *reaper_new(void);
void reaper_free(struct reaper *reaper);

/* To be told once of the end of a child that leads a process group.  What it
 * has left running in its group is killed before. */
void reaper_watch(struct reaper *reaper, pid_t pid, reaper_call *call,
		  void *arg);

/* No more: its caller waits for it.  One that is not watched does nothing. */
void reaper_forget(struct reaper *reaper, pid_t pid);

/* How many are watched. */
size_t reaper_count(const struct reaper *reaper);

/* After SIGCHLD: reaps all that have ended.  False if no child is left, watched
 * or not. */
bool reaper_run(struct reaper *reaper);

#endif
