/* SPDX-License-Identifier: Apache-2.0 */
/* The actions that a plan is restricted to: the targets, by their ids or as
 * KIND/NAME, and their needs. */
#ifndef JOBRUN_TARGETS_H
#define JOBRUN_TARGETS_H

#include "core/plan/plan.h"

struct targets; /* opaque, see targets.c */

struct targets *targets_new(const char *const *names, size_t count);
void targets_free(struct targets *targets);
size_t targets_count(const struct targets *targets);
const char *targets_at(const struct targets *targets, size_t i);

/* Removes all other actions from the job, whose actions start at index `first`
 * of the plan. */
void targets_keep(struct targets *targets, struct plan_job *job, size_t first);

/* Fails if a target matched none of the actions. */
int targets_check(const struct targets *targets, struct error *err);

#endif
