/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns job files into checked jobs.  Everything wrong with any of the files is
 * added to the problems in one pass; the resulting jobs are valid.
 */
#ifndef JOBRUN_SCHEMA_H
#define JOBRUN_SCHEMA_H

#include "core/base/error.h"
#include "core/job/job.h"
#include "schema/problem/problem.h"

/* The part of a provider that job files need. */
struct schema_provider {
	const char *name;
	/* the fields of `jobrun: NAME:`, or NULL */
	const struct message *block;
	unsigned traits; /* core/job/traits.h */
};

/* A value from the command line that overrides those of the files. */
struct schema_set {
	const char *text; /* "trainingInput.args[0]=--fast" */
	bool json;        /* the value is JSON, else the text of a scalar */
};

struct boundary;

struct schema_options {
	/* In registry order: the first is the default. */
	const struct schema_provider *providers;
	size_t provider_count;
	const char *job_id; /* for a file without one; or NULL */
	/* Whether a job without a jobId is known under this one, which comes
	 * only from its file's name: called by several threads.  Or NULL. */
	bool (*is_known)(void *arg, const struct job *job, const char *job_id);
	void *arg;
	const char *provider;          /* replaces the file's; or NULL */
	const struct schema_set *sets; /* applied in this order, to every job */
	size_t set_count;
	/* How far the files may reach (core/job/boundary.h); NULL: not
	 * checked. */
	const struct boundary *boundary;
	bool strict;       /* warnings are errors */
	bool check_only;   /* jobs are counted, not kept */
	bool each_note;    /* with check_only: nothing is summed up */
	bool may_be_empty; /* a directory without job files is no problem */
	size_t limit;      /* problems to keep of each severity; 0: all */
};

struct jobs {
	struct job **items; /* owned, in the order of reading; or NULL */
	size_t count;
};

void jobs_done(struct jobs *jobs);

/*
 * Reads every path: a file, a directory (recursively, *.yaml and *.yml, sorted
 * by name), a pattern, or "-" for standard input; each file once.  Returns 0
 * even if the files have problems, which are then sorted; jobs with errors are
 * not in `out`.  In a directory, files without a job are skipped with a note,
 * and so are files without a jobId that others extend.  Several threads read
 * many files.  Returns -1 only for an unknown `options->provider`.
 */
int schema_load(char *const *paths, size_t count,
		const struct schema_options *options, struct jobs *out,
		struct problems *found, struct error *err);

/* The same for a text in memory, as if it were the file `name`. */
int schema_load_text(const char *name, const char *text, size_t len,
		     const struct schema_options *options, struct jobs *out,
		     struct problems *found, struct error *err);

#endif
