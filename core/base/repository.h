/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Defines what counts as a Git repository, for the boundary of job files, the
 * names of sets and the files that are shipped, which must agree.  Looks only
 * at `.git` and never runs the git program, since a stranger's configuration
 * may name programs.
 */
#ifndef JOBRUN_REPOSITORY_H
#define JOBRUN_REPOSITORY_H

#include <stdbool.h>
#include <stddef.h>

/* A work tree.  The paths are absolute and owned. */
struct repository {
	char *top; /* the folder with `.git`, links resolved */
	char *git; /* the folder of this work tree: HEAD, index */
	/* the folder shared by all work trees: config, refs, objects */
	char *common;
};

/*
 * Finds the nearest work tree that contains an existing folder.  Returns false
 * if there is none.  A home directory and "/" never count, though some people
 * keep their settings in Git that way: the files below are not one project.
 */
bool repository_find(const char *folder, struct repository *out);

/* Whether the folder itself, a path without links, is the top of a work tree;
 * here a home directory counts. */
bool repository_at(const char *top, struct repository *out);

/*
 * Reads a file of a repository's own folder ("config" of `common`), followed by
 * a NUL.  Reads only regular files, not links: a stranger may have made the
 * folder.  Returns new, or NULL.
 */
char *repository_read(const char *folder, const char *name, size_t max,
		      size_t *len);

void repository_done(struct repository *repository);

#endif
