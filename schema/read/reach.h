/* SPDX-License-Identifier: Apache-2.0 */
/* Checks where the paths of a job file lead: a path out of its root is a
 * problem, or is recorded for the plan to report.  Without a boundary in the
 * options nothing is checked. */
#ifndef JOBRUN_REACH_H
#define JOBRUN_REACH_H

#include <stdbool.h>

#define REACH_HINT                                                             \
	"who runs jobrun may allow it: --allow-outside DIR, or "               \
	"JOBRUN_ALLOW_OUTSIDE"

struct error;
struct job;
struct node;
struct reading;

/* Checks the file itself, which may be a link.  Returns -1 with the reason. */
int reach_check_file(struct reading *reading, struct error *err);

/* Whether the file may be merged with that one, which must be within the root,
 * on every machine.  `root`: the folder that it must be opened below, or NULL.
 * Returns -1 with the reason. */
int reach_check_base(struct reading *reading, const char *path,
		     const struct node *at, const char **root,
		     struct error *err);

/* Checks all paths of a filled job; `local`: its tasks run here. */
void reach_check(struct reading *reading, struct job *job, bool local);

#endif
