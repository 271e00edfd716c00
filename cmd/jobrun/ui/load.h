/* SPDX-License-Identifier: Apache-2.0 */
/* Loads job files from the command line, for every command that takes a
 * PATH. */
#ifndef JOBRUN_LOAD_H
#define JOBRUN_LOAD_H

#include "core/base/opt.h"
#include "core/job/boundary.h"
#include "schema/schema.h"

struct app;

/* The beginning of such a command's help. */
#define PATH_HELP                                                              \
	"A PATH is a file, a directory (read recursively), a pattern in "      \
	"quotes, or - for\nstandard input"

/* The options of such a command about the files. */
struct load_opts {
	const char *job_id;
	const char *provider;
	struct opt_list sets;
	bool untrusted;
	bool connect;
	struct opt_list outside;
	const char *catalogue;                  /* a file, or NULL */
	struct schema_set parsed[OPT_LIST_MAX]; /* private */
	/* How far the files may reach; see load_options(). */
	struct boundary boundary;
};

/* A command's shared rows, for a struct load_opts. */
extern const struct opt load_rows[];

/* The options for a command without these rows: the providers of the registry,
 * and no boundary. */
struct schema_options load_plain_options(void);

/*
 * Makes the options from the rows, with a boundary from options and
 * environment.  On a terminal, places named in files may be contacted.  Borrows
 * `opts`, for which load_done() must be called, whatever this returns.
 */
int load_options(struct load_opts *opts, const struct app *app,
		 struct schema_options *out, struct error *err);
/* Adds a catalogue named by an option; NULL: none. */
void load_catalogue(const char *path);
void load_done(struct load_opts *opts);

/*
 * Reads and checks all paths.  Problems go to standard error.  Returns 0, or
 * the exit status if any file has an error or can't be read; then there are no
 * jobs.  The caller calls jobs_done().
 */
int load_jobs(const struct app *app, const struct schema_options *options,
	      char *const *paths, size_t count, struct jobs *out);
/* The same; finding no jobs is no error. */
int load_jobs_or_none(const struct app *app,
		      const struct schema_options *options, char *const *paths,
		      size_t count, struct jobs *out);

/* Prints "12 more problems are not shown" and how to see them; nothing if all
 * were kept. */
void load_say_omitted(const struct app *app, const struct problems *found);

#define LOAD_PROBLEMS_MAX 1000 /* of each severity, by default */

#endif
