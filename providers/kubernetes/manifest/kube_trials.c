/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/manifest/kube_trials.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "providers/kubernetes/manifest/launch_trial.h"
#include "core/spec/describe.h"
#include "providers/kubernetes/manifest/launcher.h"
#include "providers/kubernetes/manifest/policy.h"

#define OPTION "--trials="
#define FIELD "trainingInput.hyperparameters"
/* MAX_ARG_STRLEN: the size of one argument with its NUL (execve(2)). */
#define ARGUMENT_MAX 131072

bool trials_are_wanted(const struct job *job)
{
	return job->training_input.hyperparameters.params.count;
}

/* ---- what has no place ------------------------------------------------- */

static void check_search(const struct pod_maker *maker)
{
	const struct hyperparameter_spec *tuning =
		&maker->job->training_input.hyperparameters;

	if (tuning->resume_previous_job_id)
		kube_leave_out(maker->out, true, FIELD ".resumePreviousJobId",
			       "only AI Platform resumes trials of another "
			       "job");
	if (tuning->algorithm == ALGORITHM_UNSPECIFIED)
		kube_leave_out(maker->out, false, FIELD ".algorithm",
			       "AI Platform's default search is not available "
			       "there: it is a grid if maxTrials covers all of "
			       "it, else random");
	if (tuning->enable_trial_early_stopping)
		kube_leave_out(maker->out, false,
			       FIELD ".enableTrialEarlyStopping",
			       "nothing compares trials in the cluster: each "
			       "runs to its end");
	if (!tuning->max_failed_trials)
		kube_leave_out(maker->out, false, FIELD ".maxFailedTrials",
			       "it is not set, so all trials start, however "
			       "many fail");
}

void trials_check(const struct pod_maker *maker)
{
	const struct job *job = maker->job;
	const struct topology *all = &maker->out->tasks;

	if (!trials_are_wanted(job))
		return;
	check_search(maker);
	if (all->count > 1 || all->tpu_slice)
		kube_leave_out(maker->out, true, FIELD,
			       "a trial there is one pod without a TPU: the "
			       "providers local (with jobrun.hosts) and "
			       "vertex-ai have trials of several tasks");
	if (!launcher_is_used(maker))
		kube_leave_out(maker->out, true, "jobrun.kubernetes.launcher",
			       "jobrun gives each trial its values in its "
			       "pod: name an image that has it ('make image' "
			       "makes one)");
	if (job_has(job, "checkpoints"))
		kube_leave_out(maker->out, true, "jobrun.checkpoints",
			       "checkpoints of trials are not supported: "
			       "remove it, or " FIELD);
	if (maker->block && maker->block->controller == CONTROLLER_JOBSET)
		kube_leave_out(maker->out, true, "jobrun.kubernetes.controller",
			       "trials are the pods of an Indexed Job: remove "
			       "it");
}

/* ---- the Job ----------------------------------------------------------- */

/* Writes "$" in JSON's other form, as "$(" in an argument would begin a
 * reference, and "$$" would become "$". */
static char *hide_dollars(const char *text)
{
	struct buf out = { 0 };

	for (; *text; text++) {
		if (*text == '$')
			buf_puts(&out, "\\u0024");
		else
			buf_putc(&out, *text);
	}
	return buf_take(&out);
}

void trials_add_command(const struct pod_maker *maker, json_t *command)
{
	json_t *trials = launch_trials_json(maker->job);
	char *text = json_dumps(trials, JSON_COMPACT);
	char *hidden = hide_dollars(text);
	size_t size = strlen(OPTION) + strlen(hidden) + 1;

	if (size > ARGUMENT_MAX)
		kube_leave_out(maker->out, true, FIELD ".maxTrials",
			       arena_printf(maker->mem,
					    "the values of its trials come to "
					    "%zu bytes, and a container's "
					    "argument holds %d: try fewer",
					    size, ARGUMENT_MAX));
	json_array_append_new(command, json_sprintf(OPTION "%s", hidden));
	free(hidden);
	free(text);
	json_decref(trials);
}

void trials_hide(json_t *properties)
{
	const json_t *from = json_object_get(properties, "command"), *word;
	json_t *kept = json_array();
	size_t i;

	json_array_foreach(from, i, word)
	{
		if (!text_starts(json_string_value(word), OPTION))
			json_array_append(kept, (json_t *)word);
	}
	if (json_array_size(kept) < json_array_size(from))
		json_object_set(properties, "command", kept);
	json_decref(kept);
}

json_t *trials_of_object(const json_t *object)
{
	const json_t *at = object, *word;
	static const char *const path[] = { "spec", "template", "spec",
					    "containers" };
	struct error ignored;
	size_t i;

	for (i = 0; i < COUNT(path); i++)
		at = json_object_get(at, path[i]);
	json_array_foreach(json_object_get(json_array_get(at, 0), "command"), i,
			   word)
	{
		const char *text = json_string_value(word);

		if (text && text_starts(text, OPTION))
			return json_read(text + strlen(OPTION),
					 strlen(text + strlen(OPTION)),
					 "command", &ignored);
	}
	return NULL;
}

static long count_trials(const struct job *job)
{
	json_t *trials = launch_trials_json(job);
	size_t count = json_array_size(json_object_get(trials, "values"));

	json_decref(trials);
	return (long)count;
}

void trials_add_job(const struct job *job, json_t *spec)
{
	const struct hyperparameter_spec *tuning =
		&job->training_input.hyperparameters;
	long count = count_trials(job), at_once = tuning->max_parallel_trials;

	json_put_int(spec, "completions", count);
	json_put_int(spec, "parallelism",
		     at_once < 1       ? 1
		     : at_once < count ? at_once
				       : count);
	/* Each trial has its own restarts, and its failure ends no other
	 * trial. */
	json_object_del(spec, "backoffLimit");
	json_put_int(spec, "backoffLimitPerIndex", policy_max_restarts(job));
	/* The Job ends when there is one failure more than this. */
	if (tuning->max_failed_trials)
		json_put_int(spec, "maxFailedIndexes",
			     tuning->max_failed_trials - 1 < count
				     ? tuning->max_failed_trials - 1
				     : count);
}

static bool has_limit(const json_t *object)
{
	return json_object_get(json_object_get(object, "spec"),
			       "backoffLimitPerIndex");
}

bool trials_are_kept(const json_t *wanted, const json_t *made)
{
	return !has_limit(wanted) || has_limit(made);
}

void trials_describe(const struct job *job, json_t *properties)
{
	struct run_spec spec = { .job_id = job->job_id,
				 .tuning =
					 job->training_input.hyperparameters };

	if (trials_are_wanted(job))
		json_put(properties, "trials", describe_trials(&spec));
}
