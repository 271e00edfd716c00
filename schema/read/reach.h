/* SPDX-License-Identifier: Apache-2.0 */
/* Where the paths of a job file lead: what leaves its root is a problem, or
 * kept for the plan to tell.  Without a boundary in the options nothing is. */
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

/* The file itself, which may be a link.  -1 with the reason. */
int reach_check_file(struct reading *reading, struct error *err);

/* Whether the file may be merged with that one: only within the root, on
 * everybody's machine.  `root`: what it must be opened below, or NULL.  -1 with
 * the reason. */
int reach_check_base(struct reading *reading, const char *path,
		     const struct node *at, const char **root,
		     struct error *err);

/* All paths of a job that was filled; `local`: its tasks run here. */
void reach_check(struct reading *reading, struct job *job, bool local);

#endif
