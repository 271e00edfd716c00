/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trial as its tasks are told to do it: the specification of the run with
 * the trial's values as arguments, its number, and a folder of its own.  Where
 * nobody is there to choose values when a trial begins, those of all trials
 * are chosen beforehand, and lie in the run's folder:
 *
 *	trials.json	[{"lr": "0.1", "layers": "3"}, …]: trial 1, 2 …
 */
#ifndef JOBRUN_TRIAL_SPEC_H
#define JOBRUN_TRIAL_SPEC_H

#include "core/spec/spec.h"

#define TRIAL_VALUES_FILE "trials.json"

/* `values` are in the order of the parameters, as trial_space_next() gives
 * them.  Strings that it copies live in `mem`. */
void trial_spec_make(const struct run_spec *run, int number,
		     const char *const *values, const char *folder,
		     const char *metric_file, struct arena *mem,
		     struct run_spec *out);

/* The values as a trial's record has them, {"lr": "0.1"}; in `mem`. */
const char *trial_parameters(const struct hyperparameter_spec *tuning,
			     const char *const *values, struct arena *mem);

/* How many trials a run has; 0 if it has no hyperparameters. */
long trial_count(const struct run_spec *run);

/* The contents of trials.json; returns new. */
json_t *trial_values_json(const struct run_spec *run);
/* Trial `number` of a run whose folder, or a copy of it, is `folder`; in
 * `mem`. */
int trial_values_read(const char *folder, const struct run_spec *run,
		      int number, struct arena *mem, const char ***out,
		      struct error *err);

#endif
