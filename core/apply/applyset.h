/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of a set of jobs that are applied together from one directory.
 * Pruning deletes jobs that the set had and the directory no longer has, so the
 * name decides what may be deleted.  The name is the first of these:
 *
 *  1. the name that the user gives;
 *  2. the one line of the file .jobrun-applyset in the directory;
 *  3. in a Git work tree, its remote `origin` and the directory's path in the
 *     tree: "git:github.com/ORG/REPO//jobs".  Every clone has the same name,
 *     shallow or not, over ssh or https, on every runner; two repositories
 *     never share one.  A remote that is a path counts as in 4;
 *  4. elsewhere, the directory itself: its path and its identity in the file
 *     system, "dir:/home/me/jobs#INODE.BIRTH".
 *
 * A path alone is never enough: a runner may check out two repositories at one
 * path, one after the other, and each would delete the other's jobs.  If a name
 * is lost because the remote was renamed, nothing is deleted: jobs applied
 * under the old name are left alone.
 */
#ifndef JOBRUN_APPLYSET_H
#define JOBRUN_APPLYSET_H

#include <stdbool.h>

#include "core/base/error.h"

#define APPLYSET_FILE ".jobrun-applyset"
#define APPLYSET_MAX 100 /* the longest name that a user may give, in bytes */

/* Accepts letters, digits, '.', '_', '-' and '/', so a name from the user never
 * equals a name found by rule 3 or 4. */
int applyset_check(const char *name, struct error *err);

/* Finds the name by rules 2 to 4.  Returns new, or NULL with `err` set. */
char *applyset_of(const char *directory, struct error *err);

#endif
