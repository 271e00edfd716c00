/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletes resources made for a run (KIND_FOR_RUN) that has ended; normally
 * their owner does.  If the owner was killed or failed, the plan deletes them;
 * if the run is repeated, the plan makes them again.
 */
#ifndef JOBRUN_CLEANUP_H
#define JOBRUN_CLEANUP_H

#include "core/base/alloc.h"
#include "core/plan/plan.h"

/* Whether the resources of a run that ended this way are to be deleted. */
bool cleanup_is_due(int cleanup, enum run_state state);

/* Changes actions of a job whose types and needs are decided; `by_place` has
 * them by the index of the wanted resource. */
void cleanup_plan(const struct plan_job *planned, struct action **by_place,
		  struct arena *mem);

#endif
