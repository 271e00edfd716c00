/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values that hyperparameter trials try: a grid, or values drawn at random.
 * They depend only on the parameters and a seed, so a repeated run tries the
 * same values.
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
	bool grid;       /* a grid; else random values */
	uint64_t points; /* points of the grid; UINT64_MAX: unlimited */
	long trials;     /* trials to run */
	/* The digests of the chosen values, so that none is tried twice: a hash
	 * table whose size is a power of two; 0 is a free slot. */
	uint64_t *chosen;
	size_t chosen_size;
	long chosen_count; /* includes values chosen twice */
};

/*
 * Borrows the hyperparameters.  If they leave the choice to the service (which
 * used Bayesian optimisation), takes the grid if it has no more points than
 * trials, else random values.
 */
void trial_space_init(struct trial_space *space,
		      const struct hyperparameter_spec *spec, const char *seed);
void trial_space_done(struct trial_space *space);

/* The values of the next trial, in the order of the parameters, as strings for
 * the program; they live in `mem`.  To be called at most `trials` times. */
const char **trial_space_next(struct trial_space *space, struct arena *mem);

/* "1e-4 to 0.1, log", "red, green, blue".  Returns new. */
char *trial_space_describe(const struct parameter_spec *param);

#endif
