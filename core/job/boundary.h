/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a job file may reach, which nobody may have reviewed.  Its paths are
 * for what is below its root: the repository that it is in, else its own
 * folder.  What leads out is refused or told, as the operator has it: by
 * options and the environment, never by the file.
 */
#ifndef JOBRUN_BOUNDARY_H
#define JOBRUN_BOUNDARY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

struct boundary {
	/* Nobody vouches for the files: nothing leads out. */
	bool untrusted;
	/* Places that files name may be contacted. */
	bool connect;
	/* The plan is about to be done: secrets, keys and kubeconfigs are
	 * needed. */
	bool apply;
	char **allowed; /* real paths of folders that count as within */
	size_t allowed_count;
};

enum boundary_side {
	BOUNDARY_WITHIN,  /* below the root */
	BOUNDARY_ALLOWED, /* below a folder that the operator allows */
	BOUNDARY_OUTSIDE,
};

/* What the environment says: CI (set and not "false" or "0"), and
 * JOBRUN_ALLOW_OUTSIDE, folders with ':' between, and JOBRUN_ALLOW_CONNECT. */
int boundary_init(struct boundary *boundary, struct error *err);
void boundary_done(struct boundary *boundary);
int boundary_allow(struct boundary *boundary, const char *folder,
		   struct error *err);

/* The root of what lies in a folder, without links; returns new.  NULL if there
 * is no such folder: then nothing is below it. */
char *boundary_root(const char *folder);

/*
 * On which side a path is, with its links followed as far as there is
 * something.  `.git` at any depth is outside.  `root` may be NULL.
 */
enum boundary_side boundary_side(const struct boundary *boundary,
				 const char *root, const char *path);
/* The folder that it is below, for core/base/beneath.h: `root`, or one that is
 * allowed; NULL if it is outside. */
const char *boundary_holder(const struct boundary *boundary, const char *root,
			    const char *path);

/* The same of a pattern with braces: of all that it can stand for. */
enum boundary_side boundary_side_of_pattern(const struct boundary *boundary,
					    const char *root,
					    const char *pattern);

/* Whether the job's file is in a repository, for messages: "the repository" or
 * "the folder of the file". */
const char *boundary_root_name(const char *root);

#endif
