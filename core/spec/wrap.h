/* SPDX-License-Identifier: Apache-2.0 */
/* What a command is started in, a conda environment or a container, and what
 * is done before it. */
#ifndef JOBRUN_WRAP_H
#define JOBRUN_WRAP_H

#include "core/base/environment.h"
#include "core/spec/spec.h"

/* `conda run`, with conda found where its installers put it: shells that ssh
 * starts do not know it.  The command itself without one.  Lives in `mem`. */
struct strings wrap_conda(const struct run_spec *spec,
			  const struct strings *command, struct arena *mem);

/* Where a container is to be like the machine that it is on. */
struct wrap_container {
	const char *name;      /* of the container */
	const char *folder;    /* is there, too, by the same path */
	const char *directory; /* where the program starts */
};

/* `docker run`, and in `after` what takes away the container if that was
 * killed.  Variables are named, not given: their values are docker's own
 * environment.  The command itself, and nothing, without one. */
struct strings wrap_docker(const struct run_spec *spec,
			   const struct strings *command,
			   const struct environment *env,
			   const struct wrap_container *container,
			   struct arena *mem, struct strings *after);

/*
 * `jobrun contain`, by the program that starts it, with the folders of the run
 * and those that the file names; in `after` what takes away the container.  The
 * command itself, and nothing, without one.  `after` may be NULL.
 */
struct strings wrap_contain(const struct run_spec *spec, size_t ordinal,
			    const struct strings *command,
			    const struct environment *env,
			    const struct wrap_container *container,
			    struct arena *mem, struct strings *after);
/* The name of a task's container here; in `mem`. */
const char *wrap_container_name(const struct run_spec *spec, size_t ordinal,
				struct arena *mem);
/* Takes away those of all tasks here. */
void wrap_remove_containers(const struct run_spec *spec);

/* What the specification has done before its tasks, outside of any container,
 * and then the command.  If that fails, the command is not started, its status
 * is that of the task, and the last line on standard error says what failed,
 * and its last words.  The command itself if nothing is to be done.  Lives in
 * `mem`. */
struct strings wrap_before(const struct run_spec *spec, size_t ordinal,
			   const struct strings *command, struct arena *mem);

#endif
