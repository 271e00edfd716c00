/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command beside a running process of a task: in its directory, with its
 * environment, and so with its devices.  Linked into the agent, too. */
#ifndef JOBRUN_ENTER_H
#define JOBRUN_ENTER_H

#include <sys/types.h>

#include "core/base/error.h"

/* The agent's command: enter PID -- COMMAND ARGUMENT... */
#define ENTER_COMMAND "enter"

/* Replaces this process by the command, if the other one is of the run whose
 * folder is, or holds, JOBRUN_RUN_DIR (NULL: of any run); returns only on
 * failure, -1. */
int enter_exec(pid_t pid, const char *folder, char *const *argv,
	       struct error *err);

/*
 * The same on another machine, for a client that may vanish: without a
 * terminal, the command and what it has started in its group are killed when
 * nobody reads our output any more.  Returns the exit status, or -1.
 */
int enter_attended(pid_t pid, char *const *argv, struct error *err);

#endif
