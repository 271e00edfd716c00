/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of launch.h share. */
#ifndef JOBRUN_LAUNCH_INTERNAL_H
#define JOBRUN_LAUNCH_INTERNAL_H

#include <stdbool.h>
#include <sys/types.h>

struct launch_keeper;

/* 0: it does not run. */
pid_t launch_keeper_pid(const struct launch_keeper *keeper);
/* There is no more time for it, nor for another one. */
void launch_keeper_kill(struct launch_keeper *keeper);
/* It was reaped: one that was killed has a successor. */
void launch_keeper_ended(struct launch_keeper *keeper, int status);
/* How the program has ended.  SIGPIPE must be ignored. */
void launch_keeper_end(struct launch_keeper *keeper, bool well);

#endif
