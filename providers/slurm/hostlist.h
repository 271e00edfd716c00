/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two compact notations that Slurm uses for many nodes
 * (slurm.schedmd.com/scontrol.html, "hostnames"; srun.html, "OUTPUT ENVIRONMENT
 * VARIABLES").
 */
#ifndef JOBRUN_HOSTLIST_H
#define JOBRUN_HOSTLIST_H

#include <stddef.h>

#include "core/base/alloc.h"
#include "core/base/error.h"

struct hostlist {
	const char **hosts; /* in the arena it was made from */
	size_t count;
};

/*
 * Appends the hosts of "node[01-03,7]-ib,login", which is node01-ib, node02-ib,
 * node03-ib, node7-ib and login; there may be several brackets.  More than
 * `max` hosts in all is an error, and so is anything malformed.
 */
int hostlist_add(struct hostlist *list, const char *text, size_t max,
		 struct arena *mem, struct error *err);

/* Expands "2(x3),1" to 2, 2, 2 and 1; there must be exactly `count` numbers. */
int hostlist_counts(const char *text, long *counts, size_t count,
		    struct error *err);

#endif
