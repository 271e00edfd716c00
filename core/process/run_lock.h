/* SPDX-License-Identifier: Apache-2.0 */
/* The lock that the processes of a run hold: see supervisor.h. */
#ifndef JOBRUN_RUN_LOCK_H
#define JOBRUN_RUN_LOCK_H

#include <sys/types.h>

#include "core/base/error.h"

/* Returns a descriptor that holds the lock until its last copy is closed. */
int run_lock_take(const char *folder, struct error *err);

/* The same, but returns -1 if anybody holds it, even if only to look. */
int run_lock_try(const char *folder, struct error *err);

/* Lets a holder record whom to signal, 0 for nobody yet.  A holder that could
 * not record the end of the run leaves the reason: a negative errno. */
int run_lock_set_pid(int fd, pid_t pid, struct error *err);

/*
 * Returns 1 if the lock is held, with whom to signal (0: unknown yet); 0 if it
 * is free, with its last holder (0: none recorded), or was never taken; -1 if
 * that can't be determined.  With `shared`, nobody can take a free lock until
 * the caller closes that descriptor; if no lock can be held, it is left alone.
 */
int run_lock_look(const char *folder, pid_t *pid, int *shared,
		  struct error *err);

#endif
