/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which state of a Git repository a folder is in: the commit that is checked
 * out, its branch, and which files are not as they were committed.  Read from
 * HEAD, the refs and the index; the git program is never run, and no
 * configuration is read (core/data/git_index.h).
 *
 * A tracked file counts as unchanged if its size and time are those of the
 * index, else if its contents are; filters are not applied.  Above 50,000
 * tracked files only those below the folder are looked at.
 */
#ifndef JOBRUN_GIT_STATUS_H
#define JOBRUN_GIT_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/alloc.h"

enum git_change_type {
	GIT_CHANGE_MODIFIED,
	GIT_CHANGE_DELETED,
	GIT_CHANGE_UNTRACKED,
};

struct git_change {
	const char *path; /* from the top of the repository */
	enum git_change_type type;
};

#define GIT_CHANGES_MAX 20 /* so many are named */

struct git_status; /* opaque */

/* Looks at the repository of an existing folder.  Returns new, or NULL: it is
 * in none, or in one that can't be read. */
struct git_status *git_status_new(const char *folder);
void git_status_free(struct git_status *status);

/* Whether it is what git_status_new() would give for that folder. */
bool git_status_is_of(const struct git_status *status, const char *folder);

/* 40 or 64 hex digits, or NULL: there is none so far. */
const char *git_status_commit(const struct git_status *status);
/* "main", or NULL if a commit is checked out. */
const char *git_status_branch(const struct git_status *status);
/* Whether the index may hold what no commit does. */
bool git_status_is_staged(const struct git_status *status);

/*
 * What differs from the commit, tracked files first, each kind by path; the
 * untracked are those of `paths`, which are below `folder`.  Fills in at most
 * GIT_CHANGES_MAX; returns how many there are.  Paths live in `mem`.
 */
size_t git_status_changes(const struct git_status *status, const char *folder,
			  const char *const *paths, size_t count,
			  struct arena *mem, struct git_change *out);

const char *git_change_name(enum git_change_type type); /* "modified" */

#endif
