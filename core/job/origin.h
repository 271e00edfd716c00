/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a job comes from.  The id and the origin are a job's identity: two
 * projects may have jobs of the same name, and one must not end the other's.
 * In a Git work tree the origin is the repository and the folder of the job's
 * file in it, the same for every clone on every machine:
 *
 *	git:github.com/ORG/REPO//jobs	by the remote `origin`
 *	git:1a2b...//jobs		without one, by the first commit
 *	dir:/home/me/jobs		in no repository
 *
 * An origin never holds the user or password of a remote's URL.
 */
#ifndef JOBRUN_ORIGIN_H
#define JOBRUN_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>

#define ORIGIN_MAX 256      /* including its NUL */
#define ORIGIN_LABEL_MAX 64 /* including its NUL */

/* The origin of jobs whose files are in that folder; returns new, or NULL if
 * the folder does not exist. */
char *origin_of(const char *folder);

/* The origin of a folder by its repository's remote, as above and of any
 * length.  The folder is an absolute path without links, and may be in a
 * repository that is a home directory.  Returns new, or NULL. */
char *origin_by_remote(const char *folder);

/* Normalizes a remote's URL: "https://me:secret@Host:443/a/b.git" and
 * "git@host:a/b" give "host/a/b".  Returns new, or NULL for a path. */
char *origin_remote(const char *url);

/* The name that a folder gives its jobs: its own, or at the top of a repository
 * the repository's, whatever a clone is called.  Returns new. */
char *origin_folder_name(const char *folder);

/* Makes a label of at most 63 lower-case letters, digits, '-' and '_': a
 * recognizable part and a checksum. */
void origin_label(const char *origin, char out[ORIGIN_LABEL_MAX]);

/* Whether both are the same origin; either may be a label.  An unknown one
 * (NULL or "") equals any other. */
bool origin_is_same(const char *a, const char *b);

/* A path and its identity in the file system, so that another directory created
 * there later is told apart.  Returns new, or NULL. */
char *origin_identify(const char *path);

#endif
