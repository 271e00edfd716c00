/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/read/bounds.h"

#include "core/job/job.h"
#include "schema/problem/problem.h"
#include "schema/rules/rules_check.h"

#define TRIALS_MAX 200000
#define JOBS_MAX 10000 /* a plan takes some 15 KiB for the least of them */

static bool add_trials(struct bounds *bounds, const struct job *job,
		       struct problems *found)
{
	const struct hyperparameter_spec *tuning =
		&job->training_input.hyperparameters;
	const struct path input = { .name = "trainingInput" };
	const struct path up = { .up = &input, .name = "hyperparameters" };
	const struct path at = { .up = &up, .name = "maxTrials" };
	const struct node *node = value_of(tuning, "maxTrials");

	if (!node)
		return true;
	bounds->trials += tuning->max_trials;
	if (bounds->trials <= TRIALS_MAX)
		return true;
	problem_add(found, SEVERITY_ERROR, node, &at, "too-many",
		    "the jobs up to here have more than %d trials together",
		    TRIALS_MAX);
	problem_hint(found, "plan fewer jobs at a time");
	return false;
}

static bool add_names(struct bounds *bounds, const struct data_set *set,
		      struct problems *found)
{
	const struct path jobrun = { .name = "jobrun" };
	const struct path data = { .up = &jobrun, .name = "data" };
	const struct path one = { .up = &data, .name = set->name };
	const struct path at = { .up = &one, .name = "urls" };
	const struct node *node = value_of(set, "urls");
	struct error err;
	size_t i;

	for (i = 0; node && i < set->urls.count; i++) {
		if (brace_count(set->urls.items[i], &bounds->names, &err) == 0)
			continue;
		problem_add(found, SEVERITY_ERROR, node, &at, "too-many",
			    "%s, with those of the jobs before it", err.text);
		return false;
	}
	return true;
}

bool bounds_add(struct bounds *bounds, const struct job *job,
		struct problems *found)
{
	const struct data_set *set = job->jobrun.data.items;
	size_t i;

	if (!bounds->check_only && ++bounds->jobs > JOBS_MAX) {
		problem_add(found, SEVERITY_ERROR, job->head.node, NULL,
			    "too-many", "more than %d jobs at a time",
			    JOBS_MAX);
		problem_hint(found, "plan only a directory or two");
		return false;
	}
	if (!add_trials(bounds, job, found))
		return false;
	for (i = 0; i < job->jobrun.data.count; i++)
		if (!add_names(bounds, &set[i], found))
			return false;
	return true;
}
