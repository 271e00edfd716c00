/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a folder's Git repository: the commit that is checked out, its
 * branch, and the files that differ from it.  Reads HEAD, the refs and the
 * index; never runs git nor reads its configuration (core/data/git_index.h).
 *
 * A tracked file is unchanged if its size and time are those of the index, or
 * else its contents are; filters are not applied.  With more than 50,000
 * tracked files only those below the folder are checked.
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
	const char *path; /* relative to the top of the repository */
	enum git_change_type type;
};

#define GIT_CHANGES_MAX 20 /* the most changes that are named */

struct git_status; /* opaque */

/* Reads the repository of an existing folder.  Returns new, or NULL if the
 * folder is in none, or in one that can't be read. */
struct git_status *git_status_new(const char *folder);
void git_status_free(struct git_status *status);

/* Whether `status` is what git_status_new() would return for that folder. */
bool git_status_is_of(const struct git_status *status, const char *folder);

/* 40 or 64 hex digits, or NULL before the first commit. */
const char *git_status_commit(const struct git_status *status);
/* "main", or NULL if HEAD is detached. */
const char *git_status_branch(const struct git_status *status);
/* Whether the index may hold changes that no commit has. */
bool git_status_is_staged(const struct git_status *status);

/*
 * Lists what differs from the commit, tracked files first, each group sorted by
 * path; untracked files are only those of `paths`, which are below `folder`.
 * Fills in at most GIT_CHANGES_MAX; returns how many changes exist.  Paths live
 * in `mem`.
 */
size_t git_status_changes(const struct git_status *status, const char *folder,
			  const char *const *paths, size_t count,
			  struct arena *mem, struct git_change *out);

const char *git_change_name(enum git_change_type type); /* "modified" */

#endif
