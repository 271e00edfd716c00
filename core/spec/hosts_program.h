/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobrun itself on hosts, for tasks that need it beside them: it saves their
 * checkpoints, and is in their PATH.  It is shipped with the source.
 */
#ifndef JOBRUN_HOSTS_PROGRAM_H
#define JOBRUN_HOSTS_PROGRAM_H

#include "core/spec/spec.h"

/* The hidden command that runs a task. */
#define HOSTS_PROGRAM_COMMAND "attend"
/* Its path among the shipped files. */
#define HOSTS_PROGRAM "bin/jobrun"

bool hosts_need_program(const struct run_spec *spec);

/* The commands of a run on a host, in `mem`; `folder` is the run's folder
 * there.  Commands that do not need jobrun stay as they are. */

/* First checks that jobrun runs on the host. */
struct strings hosts_wrap_setup(const struct run_spec *spec,
				const struct strings *setup, const char *folder,
				struct arena *mem);
struct strings hosts_wrap_task(const struct run_spec *spec, size_t ordinal,
			       const struct strings *command,
			       const char *folder, struct arena *mem);
/* The same where jobrun is installed anyway, as `program`; the task writes its
 * checkpoints to `directory`. */
struct strings hosts_attend_task(const struct run_spec *spec, size_t ordinal,
				 const struct strings *command,
				 const char *program, const char *directory,
				 struct arena *mem);

#endif
