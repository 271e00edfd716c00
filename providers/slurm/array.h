/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trials of a run as the elements of a job array.  Each begins when Slurm
 * lets it, and nobody looks after them all: what the end of one means for the
 * others is decided on its node, by what they have left in the run's folder
 * (core/trial/trial_result.h).
 *
 *	stopped		so many have failed that no other is to go on
 *	status		how the run has ended, once all trials say so: 0 or 1
 */
#ifndef JOBRUN_ARRAY_H
#define JOBRUN_ARRAY_H

#include "core/spec/spec.h"
#include "core/trial/trial_result.h"
#include "providers/slurm/attempts.h"

bool array_is_stopped(const char *run);

/*
 * A trial has ended with its attempt in this folder: leaves the result, with
 * what it has reported and whether it was stopped early, which are not in
 * `how` yet.  Where too many have failed then, cancels the others.  `spec` is
 * the run's.  May be killed at any time and called again.
 */
int array_end_trial(const struct slurm_turn *at, const struct run_spec *spec,
		    const char *attempt, const struct trial_result *how,
		    struct error *err);

#endif
