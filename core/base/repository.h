/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What counts as a Git repository, in one place: the boundary of job files, the
 * names of sets and the files that are shipped must agree on it.  Found by
 * looking at `.git` alone: the git program is never run, since a stranger's
 * configuration may name programs.
 */
#ifndef JOBRUN_REPOSITORY_H
#define JOBRUN_REPOSITORY_H

#include <stdbool.h>
#include <stddef.h>

/* A work tree.  All three are absolute and owned. */
struct repository {
	char *top;    /* the folder that holds `.git`, without links */
	char *git;    /* of this work tree: HEAD, index */
	char *common; /* of all its work trees: config, refs, objects */
};

/*
 * The nearest work tree above an existing folder, or the folder itself.  False
 * if it is in none.  A home directory and "/" are never one, though some keep
 * their settings that way: what is below is not one project.
 */
bool repository_find(const char *folder, struct repository *out);

/* Whether the folder itself, a path without links, is the top of a work tree;
 * a home directory may be. */
bool repository_at(const char *top, struct repository *out);

/*
 * A file of a repository's own folder ("config" of `common`), followed by a NUL;
 * only a regular one, and no link: who made the folder may be a stranger.
 * Returns new, or NULL.
 */
char *repository_read(const char *folder, const char *name, size_t max,
		      size_t *len);

void repository_done(struct repository *repository);

#endif
