/* SPDX-License-Identifier: Apache-2.0 */
/* The lock that the processes of a run hold: see supervisor.h. */
#ifndef JOBRUN_RUN_LOCK_H
#define JOBRUN_RUN_LOCK_H

#include <sys/types.h>

#include "core/base/error.h"

/* Returns a descriptor that holds the lock until its last copy is closed. */
int run_lock_take(const char *folder, struct error *err);

/* Says whom to signal; by a holder. */
int run_lock_set_pid(int fd, pid_t pid);

/* Who is to be signalled, or 0 if nobody holds the lock. */
pid_t run_lock_holder(const char *folder);

#endif
