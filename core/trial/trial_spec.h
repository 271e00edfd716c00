/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions for a trial's tasks: the run's specification with the
 * trial's values as arguments, its number, and its own folder.  If nobody can
 * choose values when a trial begins, those of all trials are chosen beforehand
 * and stored in the run's folder:
 *
 *	trials.json	[{"lr": "0.1", "layers": "3"}, …]: trial 1, 2 …
 */
#ifndef JOBRUN_TRIAL_SPEC_H
#define JOBRUN_TRIAL_SPEC_H

#include "core/spec/spec.h"

#define TRIAL_VALUES_FILE "trials.json"

/* `values` are in the order of the parameters, as from trial_space_next().
 * Strings that it copies live in `mem`. */
void trial_spec_make(const struct run_spec *run, int number,
		     const char *const *values, const char *folder,
		     const char *metric_file, struct arena *mem,
		     struct run_spec *out);

/* The values in the form of a trial's record, {"lr": "0.1"}; in `mem`. */
const char *trial_parameters(const struct hyperparameter_spec *tuning,
			     const char *const *values, struct arena *mem);

/* The number of a run's trials; 0 if it has no hyperparameters. */
long trial_count(const struct run_spec *run);

/* The contents of trials.json; returns new. */
json_t *trial_values_json(const struct run_spec *run);
/* Reads the values of trial `number` from `folder`, a run's folder or a copy of
 * it; in `mem`. */
int trial_values_read(const char *folder, const struct run_spec *run,
		      int number, struct arena *mem, const char ***out,
		      struct error *err);

#endif
