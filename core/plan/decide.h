/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides what to do about one resource: derives an action's type, reason and
 * changes from the desired and the observed resource.
 */
#ifndef JOBRUN_DECIDE_H
#define JOBRUN_DECIDE_H

#include "core/plan/compare.h"
#include "core/plan/plan.h"

/*
 * Fills in type, reason, changes and follow of an action that has job, want and
 * have.  Fails if the job forbids the change.
 */
int rules_decide(struct action *action, const struct plan_options *options,
		 struct compare *compare, struct error *err);

/* Whether the action is on a run that is over, or that nothing will be done
 * about: resources that only this run needs do not have to exist. */
bool rules_rests(const struct action *action);

#endif
