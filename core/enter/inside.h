/* SPDX-License-Identifier: Apache-2.0 */
/* The way into a task's container: the namespaces of its program, or where they
 * belong to another user, as docker's do, the runtime's own `exec`. */
#ifndef JOBRUN_INSIDE_H
#define JOBRUN_INSIDE_H

#include <sys/types.h>

#include "core/base/environment.h"
#include "core/base/error.h"

/*
 * Runs a command in the container of the task whose process this is, with that
 * process's environment `env`, and exits as the command does; returns only on
 * failure, -1.  With a runtime's `exec` a command outlives its client: a guard,
 * a child of this process, ends what carries the same ENTER_MARK as `env`
 * there, if this process is killed.
 */
int inside_exec(pid_t pid, const struct environment *env, char *const *argv,
		struct error *err);

#endif
