/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a run according to its JobSet or Job alone, without its pods. */
#ifndef JOBRUN_KUBE_STATE_H
#define JOBRUN_KUBE_STATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/run_state.h"

enum run_state state_of(const json_t *object);
/* Whether none of its pods may run at present. */
bool state_is_suspended(const json_t *object);
/* Whether a Job failed because of its trials: too many of them failed, or all
 * ran and some failed. */
bool state_has_failed_trials(const json_t *object);
bool state_ran_all_trials(const json_t *object);
/* When it ended, since 1970; 0: it has not. */
int64_t state_end_ms(const json_t *object);
/* The object's reason for the failure; in `mem`. */
const char *state_why(const json_t *object, struct arena *mem);

/* How often its pods, or some of them, were started again. */
long long state_restarts(const json_t *object);

#endif
