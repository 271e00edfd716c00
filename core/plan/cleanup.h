/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was made for a run (KIND_FOR_RUN) goes when that has ended: its owner
 * deletes it then.  Where it is still there, because the owner was killed or
 * failed, it is planned to be deleted; and where a run is ended to be run
 * again, to be made again too.
 */
#ifndef JOBRUN_CLEANUP_H
#define JOBRUN_CLEANUP_H

#include "core/base/alloc.h"
#include "core/plan/plan.h"

/* Whether a run that has ended so takes with it what was made for it. */
bool cleanup_is_due(int cleanup, enum run_state state);

/* Changes actions of a job whose types and needs are decided; `by_place` has
 * them by the index of what they want. */
void cleanup_plan(const struct plan_job *planned, struct action **by_place,
		  struct arena *mem);

#endif
