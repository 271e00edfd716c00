/* SPDX-License-Identifier: Apache-2.0 */
/* Expands the paths of a command line: files, directories, patterns, standard
 * input; each file once, in a stable order.  Opens no file. */
#ifndef JOBRUN_FILES_H
#define JOBRUN_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "schema/yaml/slots.h"

struct arena;

/* Kept small, as there may be many. */
struct file_entry {
	const char *path; /* "jobs/a.yaml", or "-" */
	bool named;       /* given on the command line, so it must hold a job */
	bool bad;         /* see file_problem() */

	/* Set by the loader, from the file's contents: */
	bool documents;    /* has documents that could be jobs */
	bool has_id;       /* one of them has a jobId */
	bool foreign;      /* belongs to another program */
	bool has_problems; /* has errors or warnings */
	unsigned jobs;
};

struct files {
	struct file_entry *items;
	size_t count;

	/* Private. */
	size_t size;
	struct arena *mem;
	bool may_be_empty;
	bool unique; /* so far no file can occur twice */
	struct file_id *ids;
	size_t id_count, id_size;
	struct slots by_id;
};

/* Why nothing can be read from it, or NULL. */
const char *file_problem(const struct file_entry *entry);

/* `may_be_empty`: a directory without job files is no problem. */
void files_init(struct files *files, char *const *paths, size_t count,
		bool may_be_empty);
/* Adds just one file, of whatever kind. */
void files_init_one(struct files *files, const char *name);
void files_done(struct files *files);

#endif
