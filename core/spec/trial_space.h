/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values that trials of hyperparameters try: a grid, or values drawn at
 * random.  They follow from the parameters and a seed alone, so that a run
 * that is done again tries the same.
 */
#ifndef JOBRUN_TRIAL_SPACE_H
#define JOBRUN_TRIAL_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/job/job.h"

struct trial_space {
	const struct parameter_spec *params; /* borrowed */
	size_t param_count;
	uint64_t seed;
	bool grid;       /* else at random */
	uint64_t points; /* that there are; UINT64_MAX: without end */
	long trials;     /* that are to be run */
	/* The digests of those chosen, so that none is tried twice: a table of
	 * a power of two, 0 where it is free. */
	uint64_t *chosen;
	size_t chosen_size;
	long chosen_count; /* those that were tried twice, too */
};

/*
 * Borrows the hyperparameters.  What they leave to the service (Bayesian
 * optimisation there) is the grid if that has no more points than there are
 * to be trials, else values at random.
 */
void trial_space_init(struct trial_space *space,
		      const struct hyperparameter_spec *spec, const char *seed);
void trial_space_done(struct trial_space *space);

/* The values of the next trial, in the order of the parameters, as the program
 * gets them; they live in `mem`.  To be called at most `trials` times. */
const char **trial_space_next(struct trial_space *space, struct arena *mem);

/* "1e-4 to 0.1, log", "red, green, blue".  Returns new. */
char *trial_space_describe(const struct parameter_spec *param);

#endif
