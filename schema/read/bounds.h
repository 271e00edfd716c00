/* SPDX-License-Identifier: Apache-2.0 */
/* How much the jobs of one command may stand for together: a few lines can name
 * more trials or shards than any machine could write down. */
#ifndef JOBRUN_BOUNDS_H
#define JOBRUN_BOUNDS_H

#include <stdbool.h>

#include "core/data/brace.h"

struct job;
struct problems;

/* Zeroed it has room for all. */
struct bounds {
	bool check_only; /* jobs are not kept: any number will do */
	size_t jobs;
	long trials;
	struct brace_names names; /* of shards; counted only */
};

/* Adds a job; false, with a problem, if that is too much. */
bool bounds_add(struct bounds *bounds, const struct job *job,
		struct problems *found);

#endif
