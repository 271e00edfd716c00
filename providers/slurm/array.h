/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trials of a run as the elements of a job array.  Slurm decides when each
 * begins, and no process supervises them all: when a trial ends, its node
 * decides what that means for the others, from the files in the run's folder
 * (core/trial/trial_result.h).
 *
 *	stopped		so many have failed that no other is to go on
 *	status		how the run has ended, once all trials have: 0 or 1
 */
#ifndef JOBRUN_ARRAY_H
#define JOBRUN_ARRAY_H

#include "core/spec/spec.h"
#include "core/trial/trial_result.h"
#include "providers/slurm/attempts.h"

bool array_is_stopped(const char *run);

/*
 * Records the end of a trial with its attempt in this folder: writes the
 * result, including its values and whether it was stopped early, which `how`
 * lacks.  If too many trials have failed now, cancels the others.  `spec` is
 * the run's.  May be killed at any time and called again.
 */
int array_end_trial(const struct slurm_turn *at, const struct run_spec *spec,
		    const char *attempt, const struct trial_result *how,
		    struct error *err);

#endif
