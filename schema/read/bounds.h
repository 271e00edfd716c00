/* SPDX-License-Identifier: Apache-2.0 */
/* Limits what the jobs of one command may stand for together: a few lines can
 * name more trials or shards than any machine could store. */
#ifndef JOBRUN_BOUNDS_H
#define JOBRUN_BOUNDS_H

#include <stdbool.h>

#include "core/data/brace.h"

struct job;
struct problems;

/* A zeroed one has all its room left. */
struct bounds {
	bool check_only; /* jobs are not kept, so any number is allowed */
	size_t jobs;
	long trials;
	struct brace_names names; /* of shards; only counted */
};

/* Adds a job; false, with a problem, if that exceeds a limit. */
bool bounds_add(struct bounds *bounds, const struct job *job,
		struct problems *found);

#endif
