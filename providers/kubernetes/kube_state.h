/* SPDX-License-Identifier: Apache-2.0 */
/* How a run stands, by its JobSet or Job alone: what its pods do is not
 * known. */
#ifndef JOBRUN_KUBE_STATE_H
#define JOBRUN_KUBE_STATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/base/run_state.h"

enum run_state state_of(const json_t *object);
/* Nothing of it may run, for now. */
bool state_is_suspended(const json_t *object);
/* Why a Job with trials has failed: too many of them failed, or all ran and
 * some failed. */
bool state_has_failed_trials(const json_t *object);
bool state_ran_all_trials(const json_t *object);
/* When it ended, or 0; since 1970. */
int64_t state_end_ms(const json_t *object);
/* Why it failed, as the object says it; in `mem`. */
const char *state_why(const json_t *object, struct arena *mem);

#endif
