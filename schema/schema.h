/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From job files to checked jobs.  Everything that is wrong with any of the
 * files is added to the problems in one pass; what comes out is valid.
 */
#ifndef JOBRUN_SCHEMA_H
#define JOBRUN_SCHEMA_H

#include "core/base/error.h"
#include "core/job/job.h"
#include "schema/problem/problem.h"

/* A provider, as far as job files know it. */
struct schema_provider {
	const char *name;
	const struct message *block; /* of `jobrun: NAME:`, or NULL */
	unsigned traits;             /* core/job/traits.h */
};

/* A value from the command line that stands above those of the files. */
struct schema_set {
	const char *text; /* "trainingInput.args[0]=--fast" */
	bool json;        /* the value is JSON, else the text of a scalar */
};

struct boundary;

struct schema_options {
	/* In registry order: the first is that of jobs that name none. */
	const struct schema_provider *providers;
	size_t provider_count;
	const char *job_id; /* of a file that has none; or NULL */
	/* Whether a job that has no jobId is known by this one, which comes
	 * from its file's name alone: called by several threads.  Or NULL. */
	bool (*is_known)(void *arg, const struct job *job, const char *job_id);
	void *arg;
	const char *provider;          /* instead of the file's; or NULL */
	const struct schema_set *sets; /* in this order, for every job */
	size_t set_count;
	/* How far the files may reach (core/job/boundary.h); NULL: nobody
	 * looks. */
	const struct boundary *boundary;
	bool strict;       /* warnings are errors */
	bool check_only;   /* jobs are counted, not kept */
	bool may_be_empty; /* a directory without job files is no problem */
	size_t limit; /* of the problems to keep of each severity; 0: all */
};

struct jobs {
	struct job **items; /* owned, in the order of reading; or NULL */
	size_t count;
};

void jobs_done(struct jobs *jobs);

/*
 * Reads every path: a file, a directory (recursively, *.yaml and *.yml, in
 * order of their names), a pattern, or "-" for standard input; each file once.
 * Returns 0 also if the files have problems, which are sorted then; jobs with
 * errors are not in `out`.  In a directory, files that hold no job are skipped
 * with a note, and so are those without a jobId that others extend.  Many
 * files are read by several threads.  Returns -1 only for an unknown
 * `options->provider`.
 */
int schema_load(char *const *paths, size_t count,
		const struct schema_options *options, struct jobs *out,
		struct problems *found, struct error *err);

/* The same of a text that is at hand, as if it were the file `name`. */
int schema_load_text(const char *name, const char *text, size_t len,
		     const struct schema_options *options, struct jobs *out,
		     struct problems *found, struct error *err);

#endif
