/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a job comes from: with its id, its identity.  Two projects may have a
 * job of one name, and one's must not end the other's.  In a Git work tree it
 * is the repository and the folder of the job's file in it, the same for every
 * clone on every machine:
 *
 *	git:github.com/ORG/REPO//jobs	by the remote `origin`
 *	git:1a2b...//jobs		without one, by the first commit
 *	dir:/home/me/jobs		in no repository
 *
 * Never holds what the URL of a remote says of users and passwords.
 */
#ifndef JOBRUN_ORIGIN_H
#define JOBRUN_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>

#define ORIGIN_MAX 256      /* with its NUL */
#define ORIGIN_LABEL_MAX 64 /* with its NUL */

/* The origin of jobs whose files are in that folder; returns new, or NULL if it
 * does not exist. */
char *origin_of(const char *folder);

/* The repository of a folder, an absolute path without links, by its remote,
 * and the place in it: as above, of any length.  A home directory can be one.
 * Returns new, or NULL. */
char *origin_by_remote(const char *folder);

/* "https://me:secret@Host:443/a/b.git", "git@host:a/b" are "host/a/b".
 * Returns new, or NULL for a path. */
char *origin_remote(const char *url);

/* The name that a folder gives its jobs: its own, or that of the repository of
 * which it is the top, whatever a clone is called.  Returns new. */
char *origin_folder_name(const char *folder);

/* As it can stand in a label of 63 small letters, digits, '-' and '_': what a
 * person knows it by, and a checksum. */
void origin_label(const char *origin, char out[ORIGIN_LABEL_MAX]);

/* Whether both are one; either may be the label of one.  What is not known
 * (NULL or "") is no other origin. */
bool origin_is_same(const char *a, const char *b);

/* A path and what the file system knows it by: another directory that comes
 * to stand there later is another one.  Returns new, or NULL. */
char *origin_identify(const char *path);

#endif
