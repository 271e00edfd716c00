/* SPDX-License-Identifier: Apache-2.0 */
/* Job files from the command line, for every command that takes a PATH. */
#ifndef JOBRUN_LOAD_H
#define JOBRUN_LOAD_H

#include "cmd/app.h"
#include "schema/schema.h"

/*
 * Reads and checks all paths.  What is wrong goes to standard error.  Returns
 * 0, or the exit status if any file has an error or can't be read; then there
 * are no jobs.  The caller calls jobs_done().
 */
int load_jobs(const struct app *app, const struct schema_options *options,
	      char *const *paths, size_t count, struct jobs *out);

/* The options that name the providers of the registry. */
struct schema_options load_options(void);

#endif
