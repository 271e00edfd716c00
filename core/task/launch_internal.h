/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of launch.h share. */
#ifndef JOBRUN_LAUNCH_INTERNAL_H
#define JOBRUN_LAUNCH_INTERNAL_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/base/error.h"
#include "core/base/loop.h"

struct heard;
struct launch_listener;
struct launch_saver;

/* 0: it does not run. */
pid_t launch_saver_pid(const struct launch_saver *saver);
/* There is no more time for it, nor for another one. */
void launch_saver_kill(struct launch_saver *saver);
/* It was reaped: one that was killed has a successor. */
void launch_saver_ended(struct launch_saver *saver, int status);
/* How the program has ended.  SIGPIPE must be ignored. */
void launch_saver_end(struct launch_saver *saver, bool well);
/* The listener to what the program writes; NULL: none. */
struct launch_listener *launch_saver_listener(struct launch_saver *saver);

/* ---- what the program writes, passed on: launch_listen.c ---- */

/* Takes `heard`, which all of it is told. */
struct launch_listener *launch_listener_new(struct heard *heard);
void launch_listener_free(struct launch_listener *all);
/* Before the program starts.  Passes on in the loop, which it borrows, until
 * launch_listener_end().  SIGPIPE must be ignored, here and below. */
int launch_listener_open(struct launch_listener *all, struct loop *loop,
			 struct error *err);
/* The program's end of the pipe of a stream, until it has started. */
int launch_listener_end_of(const struct launch_listener *all, int stream);
void launch_listener_started(struct launch_listener *all);
/* Nobody writes any more: passes on what is left. */
void launch_listener_end(struct launch_listener *all);

#endif
