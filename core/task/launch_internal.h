/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of launch.h share. */
#ifndef JOBRUN_LAUNCH_INTERNAL_H
#define JOBRUN_LAUNCH_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "core/base/error.h"

struct heard;
struct launch_keeper;
struct launch_listener;

/* 0: it does not run. */
pid_t launch_keeper_pid(const struct launch_keeper *keeper);
/* There is no more time for it, nor for another one. */
void launch_keeper_kill(struct launch_keeper *keeper);
/* It was reaped: one that was killed has a successor. */
void launch_keeper_ended(struct launch_keeper *keeper, int status);
/* How the program has ended.  SIGPIPE must be ignored. */
void launch_keeper_end(struct launch_keeper *keeper, bool well);
/* Who reads what the program writes; NULL: nobody. */
struct launch_listener *launch_keeper_listener(struct launch_keeper *keeper);

/* ---- what the program writes, passed on: launch_listen.c ---- */

/* Takes `heard`, which all of it is told. */
struct launch_listener *launch_listener_new(struct heard *heard);
void launch_listener_free(struct launch_listener *all);
/* Before the program starts; `signals` are those that end a wait. */
int launch_listener_open(struct launch_listener *all, const sigset_t *signals,
			 struct error *err);
/* In the program's process: only async-signal-safe calls. */
void launch_listener_become(const struct launch_listener *all);
/* In ours, once that has begun. */
void launch_listener_started(struct launch_listener *all);
/* Passes something on, or waits: for more, for room, for a signal, or for so
 * long.  SIGPIPE must be ignored, here and below. */
void launch_listener_wait(struct launch_listener *all,
			  const struct timespec *limit);
/* Nobody writes any more: passes on what is left. */
void launch_listener_end(struct launch_listener *all);

#endif
