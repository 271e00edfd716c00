/* SPDX-License-Identifier: Apache-2.0 */
/* What the end of a run means for the jobs that are after it. */
#ifndef JOBRUN_SUCCESSION_H
#define JOBRUN_SUCCESSION_H

#include "core/apply/execution.h"

/* Whether the run of another job, which ended like this, still lets a later
 * one start. */
bool succession_starts(const struct execution *it, enum action_phase phase,
		       const struct run_status *status,
		       const struct execution *later);
/* Whether nobody has cancelled the job while it waited for another one. */
bool succession_may_start(const struct execution *it);
/* Says why a job that was after another one never starts; ERROR_INTERRUPTED: it
 * was cancelled. */
void succession_why(const struct execution *it, struct error *why);

#endif
