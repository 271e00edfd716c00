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

/* The largest number of files that plans list; a larger source is shown as a
 * digest. */
#define SOURCE_LISTED_MAX 2000
/* The most files named as possible secrets. */
#define SOURCE_SECRETS_MAX 20

/*
 * Reads the source in a folder: by the rules of core/data/tree.h, without the
 * checkpoint directory (NULL: none), which the program writes.  Everything that
 * digests, lists or ships a source reads it with this function.
 */
int source_read(const char *folder, const char *checkpoints, struct arena *mem,
		struct tree *out, struct error *err);
/* The same for a job, by the rules of that version. */
int source_read_job(const struct job *job, enum source_version version,
		    struct arena *mem, struct tree *out, struct error *err);

/* Checks whether the source has any file, without reading contents. */
int source_look(const struct job *job, struct arena *mem, struct tree *out,
		struct error *err);

/* Adds what is odd about a source that is shipped, judging by its tree; nothing
 * if it has files, and clones have them too. */
void source_oddness(const struct job *job, const struct tree *tree,
		    struct buf *out);

enum file_change_type {
	FILE_MODIFIED,
	FILE_ADDED,
	FILE_REMOVED,
};

struct file_change {
	const char *path; /* relative to the source */
	enum file_change_type type;
};

struct file_changes {
	const struct file_change *items; /* by path, bytewise */
	size_t count;
};

/*
 * {"directory", "contents": "2 files, 3 kB", "sha256", "files"} of a digested
 * job, for the properties of a run, whose kind names `files`.  Returns new.
 */
json_t *source_json(const struct job *job);

/* "41 files, 2.3 MB; not: 3 by .gitignore". */
void source_text(const struct job *job, struct buf *out);
/* The same with the names: {"directory", "files", "bytes", "sha256", "paths",
 * "leftOut": [{"path", "why"}], "leftOutTotal": {WHY: count}}; "paths" is
 * missing if there are too many to list.  Returns new. */
json_t *source_listing(const struct job *job);
/* Why the i-th of job->source_left_out is left out: "by .gitignore". */
const char *source_why(const struct job *job, size_t i);
/* Adds a warning about files that are likely to be secrets; nothing if there
 * are none. */
void source_warning(const struct job *job, struct buf *out);

/* {"train.py": "0123456789abcdef"}: enough of each digest to tell versions of a
 * file apart.  NULL if there are too many files, or no source.  Returns new. */
json_t *source_files_json(const struct job *job);

/* Compares two results of source_files_json().  Paths live in `mem`. */
void source_compare(const json_t *before, const json_t *after,
		    struct arena *mem, struct file_changes *out);

const char *file_change_name(enum file_change_type type); /* "added" */

/* "train.py modified, a.csv added and 3 more": the first `most`; 0: all. */
#define SOURCE_SHOWN_MAX 5
void file_changes_text(const struct file_changes *files, size_t most,
		       struct buf *out);

#endif
