/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One job file while it is being read and checked.  Nothing is shared with
 * other files, as several threads read files. schema/read/load.c does checks
 * across files (a jobId used twice).
 */
#ifndef JOBRUN_READING_H
#define JOBRUN_READING_H

#include <sys/types.h>

#include "schema/problem/problem.h"
#include "schema/schema.h"
#include "schema/yaml/source_text.h"

/* Problems are sorted by order: first those of the first file, of the files it
 * extends, and of options for it; then those of the next file. */
#define ORDER_STEP 64
#define ORDER_OPTIONS (ORDER_STEP - 1)

struct document;

/* The text of another file or an option that contributed to a job. */
struct other_text {
	struct other_text *next;
	struct source source;
	char *name;
};

/* The position where a document begins. */
struct place {
	unsigned line, column, length; /* line 0: there is none */
	bool told;
};

struct extended_file {
	dev_t device;
	ino_t inode;
};

/* The root of the last folder that a thread has read a file of: most files
 * share it with the next one.  Owned. */
struct last_root {
	char *folder; /* NULL: none yet */
	char *root;   /* boundary_root() of it */
};

struct reading {
	const struct schema_options *options;
	struct last_root *last_root; /* borrowed; NULL: not kept */
	/* The providers on offer, and those with keys of their own;
	 * NULL-terminated. */
	const char *const *provider_names;
	const char *const *block_names;
	const char *path;
	unsigned order;
	bool named; /* given on the command line, so it must hold a job */
	bool loose; /* a text without a folder */

	struct problems found; /* of this file only */
	struct job **jobs;     /* owned */
	size_t job_count;
	size_t documents; /* that are jobs, good or bad */
	bool has_id;      /* some document has a jobId */
	/* no document is a job: it is not our file */
	bool foreign;
	struct extended_file *extended; /* all files that it extends */
	size_t extended_count;

	/* Private. */
	char *root; /* the root of its paths: see reach_check() */
	struct source source;
	struct other_text *others;
	unsigned other_count;
	size_t extended_values; /* in all the files that it extends */
	size_t values;          /* documents that are not empty */
	size_t errors;          /* before the document was read */
	struct place unnamed;   /* the first job without a jobId */
	struct place stray;     /* the first document that is no map */
};

/* Reads the file, or standard input; always produces jobs or problems. */
void reading_file(struct reading *reading);
/* The same for a text already in memory; takes `data`. */
void reading_text(struct reading *reading, char *data, size_t len);
void reading_done(struct reading *reading);

/* Fills and checks one job, from a document with a trainingInput or nearly one;
 * takes the document's arena. */
void reading_add_job(struct reading *reading, struct document *doc);

/* Adds a text that lives until the reading is done; takes `data` and borrows
 * `name`.  Returns NULL, after adding a problem, if the bytes are not text. */
struct source *reading_add_text(struct reading *reading, const char *name,
				unsigned order, char *data, size_t len);

#endif
