/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command in a container, with whichever runtime is installed.  These
 * words describe the container on the way from whoever makes the task to where
 * it runs, `jobrun contain` or the agent, which turns them into a command line
 * of the runtime:
 *
 *	runtime=auto image=IMAGE name=NAME workdir=DIR mount=DIR...
 *	variable=NAME... option=TEXT... -- COMMAND ARGUMENT...
 *
 * With entrypoint=own before the "--", what follows are the arguments of the
 * image's own entry point, none for those that the image has.
 *
 * Variables are given by name only: the runtime takes their values from its own
 * environment.  The container shares the host's network, processes and memory,
 * so that signals, peers and exits work as without one.
 */
#ifndef JOBRUN_CONTAINER_H
#define JOBRUN_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

#define CONTAINER_COMMAND "contain"
#define CONTAINER_OWN_ENTRY "entrypoint=own"

/* A variable of a task that is in a container: "RUNTIME,NAME", the first as in
 * the words above. */
#define CONTAINER_VARIABLE "JOBRUN_CONTAINER"

/* Replaces this process by the runtime.  Returns only on failure, -1. */
int container_exec(int count, char *const *words, struct error *err);

/* The program of a runtime, or of the first one that works here for "auto";
 * NULL with `err` set: it does not. */
const char *container_program(const char *runtime, struct error *err);

/*
 * Sets the words that run `command` in the container of that name by the
 * runtime's own `exec`: with the container's user, directory and environment,
 * and a variable, "NAME=value".  NULL: the runtime has none.  Lives in `mem`.
 */
int container_enter(const char *runtime, const char *name, const char *variable,
		    char *const *command, struct arena *mem, char *const **out,
		    struct error *err);
/* Whether the runtime, which has an `exec`, has that container. */
bool container_is_there(const char *runtime, const char *name);

/* Why a runtime can't run an image's own entry point, or NULL: it can, or it is
 * "auto". */
const char *container_entry_fault(const char *runtime, struct arena *mem);

/* Removes the container of that name, if the runtime keeps containers and has
 * it.  Waits for that, a minute at most.  `env` is the environment that the
 * container was started with, as it may say where the runtime keeps it; NULL:
 * that of this process. */
void container_remove(const char *runtime, const char *name, char *const *env);

#endif
