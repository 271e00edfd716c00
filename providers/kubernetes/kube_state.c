/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/kube_state.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "providers/kubernetes/manifest/objects.h"

static long long number(const json_t *object, const char *key)
{
	return json_get_int(json_object_get(object, "status"), key, 0);
}

/* Counts pods in a state over all Jobs of a JobSet. */
static long long count_pods(const json_t *object, const char *key)
{
	const json_t *jobs = json_object_get(json_object_get(object, "status"),
					     "replicatedJobsStatus");
	long long sum = 0;
	const json_t *one;
	size_t i;

	json_array_foreach(jobs, i, one) sum += json_get_int(one, key, 0);
	return sum;
}

/* Counts how often single Jobs of a JobSet were started again. */
static long long job_restarts(const json_t *object)
{
	const json_t *jobs = json_object_get(json_object_get(object, "status"),
					     "replicatedJobsStatus");
	const json_t *one, *count;
	long long sum = 0;
	size_t i, j;

	json_array_foreach(jobs, i, one)
	{
		json_array_foreach(json_object_get(one, "jobRestarts"), j,
				   count) sum += json_integer_value(count);
	}
	return sum;
}

long long state_restarts(const json_t *object)
{
	return number(object, "restarts") + job_restarts(object) +
	       number(object, "currentInPlaceRestartAttempt");
}

static bool failed_by(const json_t *object, const char *reason)
{
	const json_t *condition;

	return object_condition(object, "Failed", &condition) &&
	       !strcmp(json_get_text(condition, "reason", ""), reason);
}

bool state_has_failed_trials(const json_t *object)
{
	return failed_by(object, "MaxFailedIndexesExceeded");
}

bool state_ran_all_trials(const json_t *object)
{
	return failed_by(object, "FailedIndexes");
}

enum run_state state_of(const json_t *object)
{
	if (object_condition(object, "Completed", NULL) ||
	    object_condition(object, "Complete", NULL))
		return RUN_SUCCEEDED;
	/* All trials have run, though some failed. */
	if (state_ran_all_trials(object) && number(object, "succeeded") > 0)
		return RUN_SUCCEEDED;
	if (object_condition(object, "Failed", NULL))
		return RUN_FAILED;
	if (*object_meta(object, "deletionTimestamp"))
		return RUN_CANCELLING;
	if (state_is_suspended(object))
		return RUN_QUEUED;
	if (number(object, "ready") > 0 || count_pods(object, "ready") > 0)
		return RUN_RUNNING;
	if (number(object, "active") > 0 || count_pods(object, "active") > 0)
		return RUN_PREPARING;
	return RUN_QUEUED;
}

bool state_is_suspended(const json_t *object)
{
	return json_is_true(
		json_object_get(json_object_get(object, "spec"), "suspend"));
}

/* The condition that says how it ended, or NULL. */
static const json_t *end_of(const json_t *object)
{
	static const char *const types[] = { "Completed", "Complete",
					     "Failed" };
	const json_t *out;
	size_t i;

	for (i = 0; i < COUNT(types); i++)
		if (object_condition(object, types[i], &out))
			return out;
	return NULL;
}

int64_t state_end_ms(const json_t *object)
{
	int64_t ms = time_parse(
		json_get_text(end_of(object), "lastTransitionTime", ""));

	return ms > 0 ? ms : 0;
}

const char *state_why(const json_t *object, struct arena *mem)
{
	const json_t *end = end_of(object);
	const char *reason = json_get_text(end, "reason", "");
	const char *message = json_get_text(end, "message", "");

	if (!strcmp(reason, "DeadlineExceeded"))
		return "it ran for longer than "
		       "trainingInput.scheduling.maxRunningTime";
	if (*message)
		return arena_strdup(mem, message);
	return *reason ? arena_strdup(mem, reason) : NULL;
}
