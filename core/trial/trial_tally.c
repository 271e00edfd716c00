/* SPDX-License-Identifier: Apache-2.0 */
#include "core/trial/trial_tally.h"

#include <math.h>
#include <stdio.h>

void trial_tally_add(struct trial_tally *tally,
		     const struct trial_record *record)
{
	tally->ended++;
	tally->reported += !isnan(record->value);
	tally->succeeded += record->state == RUN_SUCCEEDED;
	tally->cancelled += record->state == RUN_CANCELLED && !record->early;
	if (record->state != RUN_FAILED)
		return;
	if (!tally->failed++ || record->end_time_ms >= tally->last_ms) {
		tally->last = record->number;
		tally->last_error = record->error;
		tally->last_ms = record->end_time_ms;
	}
}

bool trial_tally_is_enough(const struct trial_tally *tally,
			   const struct hyperparameter_spec *spec, char *why,
			   size_t size)
{
	long most = spec->max_failed_trials;

	if (most ? tally->failed < most
		 : tally->succeeded || tally->failed < TRIAL_FAILED_MAX)
		return false;
	snprintf(why, size, "%ld trial%s failed%s; trial %d: %s", tally->failed,
		 tally->failed > 1 ? "s" : "",
		 most ? " (maxFailedTrials)" : ", and none succeeded",
		 tally->last, tally->last_error ? tally->last_error : "");
	return true;
}

enum run_state trial_tally_verdict(const struct trial_tally *tally,
				   const struct hyperparameter_spec *spec,
				   char *why, size_t size)
{
	if (tally->reported)
		return RUN_SUCCEEDED;
	if (tally->failed == tally->ended)
		snprintf(why, size, "all %ld trials failed; the last: %s",
			 tally->ended,
			 tally->last_error ? tally->last_error : "");
	else
		snprintf(why, size,
			 "no trial reported the metric '%s' (or all ended with "
			 "NaN): neither in the file that "
			 "CLOUD_ML_HP_METRIC_FILE names nor as %s=VALUE in its "
			 "output",
			 spec->metric_tag, spec->metric_tag);
	return RUN_FAILED;
}
