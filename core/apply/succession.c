/* SPDX-License-Identifier: Apache-2.0 */
#include "core/apply/succession.h"

#include "core/plan/after.h"

bool succession_starts(const struct execution *it, enum action_phase phase,
		       const struct run_status *status,
		       const struct execution *later)
{
	if (phase == PHASE_DONE)
		return true;
	return !it->executor->cancelling &&
	       (status ? run_state_is_final(status->state)
		       : it->doomed_by != NULL) &&
	       after_takes_any_end(later->action, it->action);
}

static const char *why_not(const struct execution *other)
{
	if (other->phase == PHASE_SKIPPED)
		return "was skipped";
	if (other->ended == RUN_CANCELLED)
		return "was cancelled";
	return other->ended == RUN_FAILED ? "failed" : "could not start";
}

void succession_why(const struct execution *other, struct error *why)
{
	error_set(why, ERROR_FAILED, "after '%s', which %s",
		  other->action->job->job->job_id, why_not(other));
}
