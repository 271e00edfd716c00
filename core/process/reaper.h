/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reaps the children of this process: those that somebody waits for, and
 * orphans that it inherits as a subreaper.  One per process, as it waits for
 * any child.
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

/* Calls back once when a child that leads a process group ends.  Processes left
 * running in its group are killed before. */
void reaper_watch(struct reaper *reaper, pid_t pid, reaper_call *call,
		  void *arg);

/* Stops watching; the caller waits for the child.  A child that is not watched
 * is no error. */
void reaper_forget(struct reaper *reaper, pid_t pid);

/* The number of watched children. */
size_t reaper_count(const struct reaper *reaper);

/* To be called after SIGCHLD: reaps all children that have ended.  Returns
 * false if no child is left, watched or not. */
bool reaper_run(struct reaper *reaper);

#endif
