/* SPDX-License-Identifier: Apache-2.0 */
/* Which files a command line means: files, directories, patterns, standard
 * input; each file once, in a stable order.  Opens none of them. */
#ifndef JOBRUN_FILES_H
#define JOBRUN_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "schema/slots.h"

struct arena;

struct file_entry {
	const char *path;    /* "jobs/a.yaml", or "-" */
	const char *problem; /* why there is nothing to read there, or NULL */
	bool named;	     /* on the command line, so it must hold a job */

	/* The loader's: what came of it. */
	bool documents; /* it has some that could be jobs */
	bool has_id;	/* and one of them a jobId */
	unsigned jobs;
};

struct files {
	struct file_entry *items;
	size_t count;

	/* Private. */
	size_t size;
	struct arena *mem;
	struct file_id *ids;
	size_t id_count, id_size;
	struct slots by_id;
};

void files_init(struct files *files, char *const *paths, size_t count);
/* Just one, whatever it is. */
void files_init_one(struct files *files, const char *name);
void files_done(struct files *files);

#endif
