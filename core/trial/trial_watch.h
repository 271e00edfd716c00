/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The median stopping rule (trial_value.h) for a trial that only its own master
 * looks after: compares its values with the results that ended trials have left
 * (trial_result.h).
 */
#ifndef JOBRUN_TRIAL_WATCH_H
#define JOBRUN_TRIAL_WATCH_H

#include <stdbool.h>

#include "core/spec/spec.h"

/* How often to check. */
#define TRIAL_WATCH_MS 2000
/* Marks, in the folder of an attempt, that it was stopped early. */
#define TRIAL_EARLY_FILE "early"

struct trial_watch;

/* `spec` is the trial's, with the folder of the attempt, and is borrowed; `run`
 * is the run's folder. */
struct trial_watch *trial_watch_new(const struct run_spec *spec,
				    const char *run, struct error *err);
void trial_watch_free(struct trial_watch *watch); /* accepts NULL */

/* A result that cannot be read now is read the next time. */
bool trial_watch_is_hopeless(struct trial_watch *watch);

#endif
