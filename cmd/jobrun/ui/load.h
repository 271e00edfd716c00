/* SPDX-License-Identifier: Apache-2.0 */
/* Job files from the command line, for every command that takes a PATH. */
#ifndef JOBRUN_LOAD_H
#define JOBRUN_LOAD_H

#include "core/base/opt.h"
#include "schema/schema.h"

struct app;

/* How the help of such a command begins. */
#define PATH_HELP                                                              \
	"A PATH is a file, a directory (read recursively), a pattern in "      \
	"quotes, or - for\nstandard input"

/* What such a command lets its user say about the files. */
struct load_opts {
	const char *job_id;
	const char *provider;
	struct opt_list sets;
	struct schema_set parsed[OPT_LIST_MAX]; /* private */
};

/* A command's shared rows, for a struct load_opts. */
extern const struct opt load_rows[];

/* The options, with the providers of the registry.  Borrows `opts`, which may
 * be NULL. */
struct schema_options load_options(struct load_opts *opts);

/*
 * Reads and checks all paths.  Problems go to standard error.  Returns 0, or
 * the exit status if any file has an error or can't be read; then there are no
 * jobs.  The caller calls jobs_done().
 */
int load_jobs(const struct app *app, const struct schema_options *options,
	      char *const *paths, size_t count, struct jobs *out);
/* The same, and none is no error. */
int load_jobs_or_none(const struct app *app,
		      const struct schema_options *options, char *const *paths,
		      size_t count, struct jobs *out);

/* "12 more problems are not shown" and how to see them; nothing if all were
 * kept. */
void load_say_omitted(const struct app *app, const struct problems *found);

#define LOAD_PROBLEMS_MAX 1000 /* of each severity, if nothing else is said */

#endif
