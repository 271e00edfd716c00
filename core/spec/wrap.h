/* SPDX-License-Identifier: Apache-2.0 */
/* Wraps a command in a conda environment or a container, and in the commands
 * that run before it. */
#ifndef JOBRUN_WRAP_H
#define JOBRUN_WRAP_H

#include "core/base/environment.h"
#include "core/spec/spec.h"

/* Wraps a command in `conda run`, looking for conda where its installers put
 * it, as shells started by ssh do not know it.  Without an environment, the
 * command itself.  Lives in `mem`. */
struct strings wrap_conda(const struct run_spec *spec,
			  const struct strings *command, struct arena *mem);

/* What a container shares with its machine. */
struct wrap_container {
	const char *name;      /* the container's name */
	const char *folder;    /* mounted at the same path */
	const char *directory; /* the program's working directory */
};

/* Wraps a command in `docker run`; sets `after` to the command that removes the
 * container if docker was killed.  Variables are passed by name: docker's own
 * environment has the values.  CONTAINER_VARIABLE is added to `env`.  Without
 * an image, the command itself and an empty `after`. */
struct strings wrap_docker(const struct run_spec *spec,
			   const struct strings *command,
			   struct environment *env,
			   const struct wrap_container *container,
			   struct arena *mem, struct strings *after);

/*
 * Wraps a command in `jobrun contain`, by the program that starts it, with the
 * folders of the run and those named in the file; sets `after` to the command
 * that removes the container, and adds CONTAINER_VARIABLE to `env`.  Without a
 * container, the command itself and an empty `after`.  `after` may be NULL.
 */
struct strings wrap_contain(const struct run_spec *spec, size_t ordinal,
			    const struct strings *command,
			    struct environment *env,
			    const struct wrap_container *container,
			    struct arena *mem, struct strings *after);
/* The name of a task's container on this machine; in `mem`. */
const char *wrap_container_name(const struct run_spec *spec, size_t ordinal,
				struct arena *mem);
/* Removes the container of that name, if tasks have containers.  `env` is the
 * environment of its task; NULL: that of this process. */
void wrap_remove_container(const struct run_spec *spec, const char *name,
			   const struct environment *env);
/* Removes the containers of all tasks on this machine. */
void wrap_remove_containers(const struct run_spec *spec);

/* Runs the specification's preparatory command, outside of any container, and
 * then the command.  If the first fails, the second is not started, the task
 * has the status of the first, and the last line on standard error says what
 * failed, with its last words.  Without a preparatory command, the command
 * itself.  Lives in `mem`. */
struct strings wrap_before(const struct run_spec *spec, size_t ordinal,
			   const struct strings *command, struct arena *mem);

#endif
