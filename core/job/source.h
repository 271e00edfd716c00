/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a job's `source`, as plans show and compare them. */
#ifndef JOBRUN_SOURCE_H
#define JOBRUN_SOURCE_H

#include <jansson.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/data/source_rules.h"
#include "core/data/tree.h"
#include "core/job/job.h"

/* Plans list a source of at most so many files; a larger one is a digest. */
#define SOURCE_LISTED_MAX 2000
/* So many files that may be secrets are named. */
#define SOURCE_SECRETS_MAX 20

/*
 * What of the folder is the source: by the rules of core/data/tree.h, without
 * the directory of its checkpoints (NULL: none), which the program writes.
 * Whoever digests, lists or ships a source reads it by this.
 */
int source_read(const char *folder, const char *checkpoints, struct arena *mem,
		struct tree *out, struct error *err);
/* The same of a job, by the rules of that version. */
int source_read_job(const struct job *job, enum source_version version,
		    struct arena *mem, struct tree *out, struct error *err);

/* Looks whether there is any file in it, and not into the files. */
int source_look(const struct job *job, struct arena *mem, struct tree *out,
		struct error *err);

/* What is odd about a source that is shipped, from its tree; adds nothing if
 * that has files, and where clones have them too. */
void source_oddness(const struct job *job, const struct tree *tree,
		    struct buf *out);

enum file_change_type {
	FILE_MODIFIED,
	FILE_ADDED,
	FILE_REMOVED,
};

struct file_change {
	const char *path; /* below the source */
	enum file_change_type type;
};

struct file_changes {
	const struct file_change *items; /* by path, bytewise */
	size_t count;
};

/*
 * {"directory", "contents": "2 files, 3 kB", "sha256", "files"}, of a job that
 * has been digested; for the properties of a run, with `files` named in its
 * kind.  Returns new.
 */
json_t *source_json(const struct job *job);

/* "41 files, 2.3 MB; not: 3 by .gitignore". */
void source_text(const struct job *job, struct buf *out);
/* The same, with the names: {"directory", "files", "bytes", "sha256", "paths",
 * "leftOut": [{"path", "why"}], "leftOutTotal": {WHY: count}}; "paths" is not
 * there if they are too many to be listed.  Returns new. */
json_t *source_listing(const struct job *job);
/* Why the i-th of job->source_left_out is: "by .gitignore". */
const char *source_why(const struct job *job, size_t i);
/* What to say of files that are likely to be secrets; adds nothing if there
 * are none. */
void source_warning(const struct job *job, struct buf *out);

/* {"train.py": "0123456789abcdef"}: enough of each digest to tell files of
 * one name apart.  NULL if there are too many, or no source.  Returns new. */
json_t *source_files_json(const struct job *job);

/* What differs between two of those.  Paths live in `mem`. */
void source_compare(const json_t *before, const json_t *after,
		    struct arena *mem, struct file_changes *out);

const char *file_change_name(enum file_change_type type); /* "added" */

/* "train.py modified, a.csv added and 3 more": the first `most`, 0 is all. */
#define SOURCE_SHOWN_MAX 5
void file_changes_text(const struct file_changes *files, size_t most,
		       struct buf *out);

#endif
