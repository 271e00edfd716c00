/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides what to do about one resource: turns desired and observed into a type
 * of action, its reason and its changes.
 */
#ifndef JOBRUN_DECIDE_H
#define JOBRUN_DECIDE_H

#include "core/plan/compare.h"
#include "core/plan/plan.h"

/*
 * Fills in type, reason, changes and follow of an action that has job, want
 * and have.  Fails if the job forbids the change.
 */
int rules_decide(struct action *action, const struct plan_options *options,
		 struct compare *compare, struct error *err);

/* The action is on a run that is over, or that nothing will be done about:
 * what only that needs, need not exist. */
bool rules_rests(const struct action *action);

#endif
