/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits how far a job file may reach, as nobody may have reviewed it.  Its
 * paths should stay below its root: the repository that it is in, else its own
 * folder.  Paths that lead out are refused or reported, as the operator
 * decides: by options and the environment, never by the file.
 */
#ifndef JOBRUN_BOUNDARY_H
#define JOBRUN_BOUNDARY_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

struct boundary {
	/* Nobody vouches for the files: no path may lead out. */
	bool untrusted;
	/* Places named in files may be contacted. */
	bool connect;
	/* The plan is about to be applied: secrets, keys and kubeconfigs are
	 * needed. */
	bool apply;
	char **allowed; /* real paths of folders that count as inside */
	size_t allowed_count;
};

enum boundary_side {
	BOUNDARY_WITHIN,  /* below the root */
	BOUNDARY_ALLOWED, /* below a folder that the operator allows */
	BOUNDARY_OUTSIDE,
};

/* Reads the environment: CI (set and not "false" or "0"), JOBRUN_ALLOW_OUTSIDE
 * (folders separated by ':') and JOBRUN_ALLOW_CONNECT. */
int boundary_init(struct boundary *boundary, struct error *err);
void boundary_done(struct boundary *boundary);
int boundary_allow(struct boundary *boundary, const char *folder,
		   struct error *err);

/* The root of files in a folder, without links; returns new.  NULL if the
 * folder is missing: then nothing is below it. */
char *boundary_root(const char *folder);

/*
 * On which side a path is, following links as far as the path exists.  `.git`
 * at any depth is outside.  `root` may be NULL.
 */
enum boundary_side boundary_side(const struct boundary *boundary,
				 const char *root, const char *path);
/* The folder that contains the path, for core/base/beneath.h: `root`, or an
 * allowed one; NULL if the path is outside. */
const char *boundary_holder(const struct boundary *boundary, const char *root,
			    const char *path);

/* The same for a pattern with braces, and all names that it can stand for. */
enum boundary_side boundary_side_of_pattern(const struct boundary *boundary,
					    const char *root,
					    const char *pattern);

/* What the root is called in messages: "the repository" or "the folder of the
 * file". */
const char *boundary_root_name(const char *root);

#endif
