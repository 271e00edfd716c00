/* SPDX-License-Identifier: Apache-2.0 */
/* Expands the paths of a command line: files, directories, patterns, standard
 * input; each file once, in a stable order.  Opens none of them. */
#ifndef JOBRUN_FILES_H
#define JOBRUN_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "schema/yaml/slots.h"

struct arena;

/* Small: there may be many. */
struct file_entry {
	const char *path; /* "jobs/a.yaml", or "-" */
	bool named;       /* on the command line, so it must hold a job */
	bool bad;         /* see file_problem() */

	/* The loader's: what came of it. */
	bool documents;    /* it has some that could be jobs */
	bool has_id;       /* and one of them a jobId */
	bool foreign;      /* it is another program's */
	bool has_problems; /* errors or warnings */
	unsigned jobs;
};

struct files {
	struct file_entry *items;
	size_t count;

	/* Private. */
	size_t size;
	struct arena *mem;
	bool may_be_empty;
	bool unique; /* so far no file can be there twice */
	struct file_id *ids;
	size_t id_count, id_size;
	struct slots by_id;
};

/* Why there is nothing to read there, or NULL. */
const char *file_problem(const struct file_entry *entry);

/* `may_be_empty`: a directory without job files is no problem. */
void files_init(struct files *files, char *const *paths, size_t count,
		bool may_be_empty);
/* Just one, whatever it is. */
void files_init_one(struct files *files, const char *name);
void files_done(struct files *files);

#endif
