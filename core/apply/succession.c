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
		       : it->doomed_by || it->dropped) &&
	       after_takes_any_end(later->action, it->action);
}

static const char *why_not(const struct execution *other)
{
	if (other->ended == RUN_CANCELLED)
		return "was cancelled";
	if (other->phase == PHASE_SKIPPED)
		return "was skipped";
	return other->ended == RUN_FAILED ? "failed" : "could not start";
}

bool succession_may_start(const struct execution *it)
{
	const struct executor_options *options = it->executor->options;

	return !options->starts || !after_waits(it->action) ||
	       options->starts(options->arg, it->action);
}

void succession_why(const struct execution *it, struct error *why)
{
	const struct execution *other = it->doomed_by;

	if (it->dropped)
		error_set(why, ERROR_INTERRUPTED,
			  "cancelled before it started");
	else
		error_set(why, ERROR_FAILED, "after '%s', which %s",
			  other->action->job->job->job_id, why_not(other));
}
