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

/* 0: it is not running. */
pid_t launch_saver_pid(const struct launch_saver *saver);
/* Kills the saver, which has run out of time, and starts no other. */
void launch_saver_kill(struct launch_saver *saver);
/* Handles that the saver was reaped: one that was killed is replaced. */
void launch_saver_ended(struct launch_saver *saver, int status);
/* Tells the saver how the program ended.  SIGPIPE must be ignored. */
void launch_saver_end(struct launch_saver *saver, bool well);
/* The listener to the program's output; NULL: none. */
struct launch_listener *launch_saver_listener(struct launch_saver *saver);

/* ---- what the program writes, passed on: launch_listen.c ---- */

/* Takes `heard`, which records all of the output. */
struct launch_listener *launch_listener_new(struct heard *heard);
void launch_listener_free(struct launch_listener *all);
/* To be called before the program starts.  Passes output on in the loop, which
 * it borrows, until launch_listener_end().  SIGPIPE must be ignored, here and
 * below. */
int launch_listener_open(struct launch_listener *all, struct loop *loop,
			 struct error *err);
/* The program's end of a stream's pipe, until the program has started. */
int launch_listener_end_of(const struct launch_listener *all, int stream);
void launch_listener_started(struct launch_listener *all);
/* To be called when nobody writes any more: passes on the rest. */
void launch_listener_end(struct launch_listener *all);

#endif
