/* SPDX-License-Identifier: Apache-2.0 */
/* What a run's tasks run in containers, see struct run_container. */
#ifndef JOBRUN_SPEC_CONTAINER_H
#define JOBRUN_SPEC_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/spec/spec.h"

/* What the tasks of one type run, where that is said beside their image. */
struct run_words {
	const char *role; /* the type of task */
	struct strings command;
	size_t args_end; /* as in struct run_spec */
	/* `command` is the arguments of the image's own entry point. */
	bool own_entry;
};

/* Sets the image of each type of task, or else the master's.  Returns what is
 * missing, or NULL. */
const char *spec_contain(const struct job *job, enum spec_images images,
			 struct arena *mem, struct run_container *out);

/* Sets what the images run: containerCommand and containerArgs of each type of
 * task, as in pods.  The master's is also the command of the run.  Returns
 * whether an image of the job's runs in a container and says that. */
bool spec_contain_words(const struct job *job, struct arena *mem,
			struct run_spec *out);

/* Why the runtime that the job names can't run what its images say, or NULL.
 * Needs the topology. */
const char *spec_contain_fault(const struct run_spec *spec, struct arena *mem);

/* Joins a command, arguments and the job's --job-dir, in the order of AI
 * Platform; trials insert theirs after `args_end`. */
struct strings spec_words(const struct job *job, const struct strings *command,
			  const struct strings *args, struct arena *mem,
			  size_t *args_end);

/* Keeps what was read from a file within its commands. */
void spec_words_bound(struct run_container *container);

/* What the image of a task runs, or NULL: the command of the run. */
const struct run_words *spec_words_of(const struct run_spec *spec,
				      size_t ordinal);
/* The command of a task. */
const struct strings *spec_command(const struct run_spec *spec, size_t ordinal);

#endif
