/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of a set of jobs that are applied together from one directory.
 * Pruning deletes jobs that the set had and the directory no longer has, so the
 * name decides what may be deleted.  It is, in this order:
 *
 *  1. what the user says;
 *  2. the one line of the file .jobrun-applyset in the directory;
 *  3. in a Git work tree, its remote `origin` and the place of the directory
 *     in the tree: "git:github.com/ORG/REPO//jobs".  The same for every clone,
 *     shallow or not, over ssh or https, on every runner; never the same for
 *     two repositories.  A remote that is a path counts as in 4;
 *  4. elsewhere, the directory itself: its path and its identity in the file
 *     system, "dir:/home/me/jobs#INODE.BIRTH".
 *
 * A path alone is never enough: on a runner, two repositories may be checked
 * out at one path, one after the other, and each would delete the other's jobs.
 * A lost name (the remote was renamed) deletes nothing: jobs applied under it
 * are left alone.
 */
#ifndef JOBRUN_APPLYSET_H
#define JOBRUN_APPLYSET_H

#include <stdbool.h>

#include "core/base/error.h"

#define APPLYSET_FILE ".jobrun-applyset"
#define APPLYSET_MAX 100 /* bytes of a name that is given */

/* Letters, digits, '.', '_', '-' and '/': no given name is ever one that was
 * found as in 3 and 4. */
int applyset_check(const char *name, struct error *err);

/* As in 2 to 4.  Returns new, or NULL with `err` set. */
char *applyset_of(const char *directory, struct error *err);

#endif
