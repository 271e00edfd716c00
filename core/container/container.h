/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command in a container, by whichever runtime is here.  The words that say
 * it go from who describes a task to where it runs, `jobrun contain` or the
 * agent, and only there are they a runtime's command line:
 *
 *	runtime=auto image=IMAGE name=NAME workdir=DIR mount=DIR...
 *	variable=NAME... option=TEXT... -- COMMAND ARGUMENT...
 *
 * Variables are named, never given: a runtime has them from its own
 * environment.  A container has the host's network, processes and shared
 * memory, so that signals, peers and ends are as without one.
 */
#ifndef JOBRUN_CONTAINER_H
#define JOBRUN_CONTAINER_H

#include <stddef.h>

#include "core/base/error.h"

#define CONTAINER_COMMAND "contain"

/* Becomes the runtime.  Only a failure returns, -1. */
int container_exec(int count, char *const *words, struct error *err);

/* Takes away the container of that name, if a runtime that keeps some has it.
 * Waits for that, `timeout_s` at most. */
void container_remove(const char *runtime, const char *name,
		      unsigned timeout_s);

#endif
