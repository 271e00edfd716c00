/* SPDX-License-Identifier: Apache-2.0 */
/* The lock that the processes of a run hold: see supervisor.h. */
#ifndef JOBRUN_RUN_LOCK_H
#define JOBRUN_RUN_LOCK_H

#include <sys/types.h>

#include "core/base/error.h"

/* Returns a descriptor that holds the lock until its last copy is closed. */
int run_lock_take(const char *folder, struct error *err);

/* The same, but -1 if anybody holds it, be it only to look. */
int run_lock_try(const char *folder, struct error *err);

/* Says whom to signal, 0 for nobody yet; by a holder.  One that could not
 * record the end of the run leaves why: a negative errno. */
int run_lock_set_pid(int fd, pid_t pid, struct error *err);

/*
 * Returns 1 if the lock is held, with whom to signal (0: not said yet); 0 if
 * it is free, with the last to hold it (0: none has said), or never was
 * taken; -1 if that can't be told.  With `shared`, a
 * free one is not taken by anybody until the caller closes that descriptor;
 * where there is no lock to hold it is left alone.
 */
int run_lock_look(const char *folder, pid_t *pid, int *shared,
		  struct error *err);

#endif
