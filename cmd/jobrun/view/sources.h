/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the tasks of a run whose output a command reads. */
#ifndef JOBRUN_SOURCES_H
#define JOBRUN_SOURCES_H

#include "core/base/alloc.h"
#include "core/log/log.h"
#include "core/spec/spec.h"

/* NULL and empty: all. */
struct source_choice {
	const char *type;
	const char *indices; /* "0,3-7" */
};

/* Parses the value of --task, for all commands that have it; NULL leaves `out`
 * alone. */
int sources_type(const char *text, enum task_type *out, struct error *err);

/*
 * The selected tasks of a run, in `mem`; their strings are the specification's.
 * Ensures that so many logs can be open.  Fails with ERROR_USAGE if the choice
 * names a task that the run does not have.
 */
int sources_choose(const struct run_spec *spec,
		   const struct source_choice *tasks, struct arena *mem,
		   struct log_source **out, size_t *count, struct error *err);

/* Where the task runs, in `mem`: as it has recorded in `folder` if another
 * scheduler has placed it; else as in the specification. */
const char *sources_host(const struct log_source *source, const char *folder,
			 struct arena *mem);

#endif
