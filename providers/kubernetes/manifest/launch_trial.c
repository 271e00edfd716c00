/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/manifest/launch_trial.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/spec/trial_space.h"
#include "core/trial/trial_value.h"

#define INDEX_VARIABLE "JOB_COMPLETION_INDEX"
#define INDEX_MAX 1000000

/* ---- what is told ------------------------------------------------------ */

json_t *launch_trials_json(const struct job *job)
{
	const struct hyperparameter_spec *tuning =
		&job->training_input.hyperparameters;
	const struct parameter_spec *params = tuning->params.items;
	json_t *out = json_object(), *names = json_array();
	json_t *values = json_array();
	struct arena *mem = arena_new();
	struct trial_space space;
	size_t i;
	long n;

	trial_space_init(&space, tuning, job->job_id);
	for (i = 0; i < tuning->params.count; i++)
		json_array_append_new(names,
				      json_text(params[i].parameter_name));
	for (n = 0; n < space.trials; n++)
		json_array_append_new(values,
				      json_texts(trial_space_next(&space, mem),
						 tuning->params.count));
	json_put_text(out, "metric", tuning->metric_tag);
	json_put(out, "names", names);
	json_put(out, "values", values);
	if (job->training_input.job_dir)
		json_put_text(out, "jobDir", job->training_input.job_dir);
	trial_space_done(&space);
	arena_free(mem);
	return out;
}

json_t *launch_trials_values(const json_t *trials, long number)
{
	const json_t *names = json_object_get(trials, "names"), *name;
	const json_t *row = json_array_get(json_object_get(trials, "values"),
					   (size_t)number - 1);
	json_t *out;
	size_t i;

	if (!row || json_array_size(row) != json_array_size(names))
		return NULL;
	out = json_object();
	json_array_foreach(names, i, name)
	{
		const char *text = json_string_value(json_array_get(row, i));

		if (!json_is_string(name) || !text) {
			json_decref(out);
			return NULL;
		}
		json_put_text(out, json_string_value(name), text);
	}
	return out;
}

/* ---- being one --------------------------------------------------------- */

static int read_number(long *out, struct error *err)
{
	const char *text = getenv(INDEX_VARIABLE);

	if (!text)
		return error_set(err, ERROR_INVALID,
				 INDEX_VARIABLE " is not set, which says which "
						"trial this is");
	if (number_parse(text, 0, INDEX_MAX, out, err) < 0)
		return error_prefix(err, INDEX_VARIABLE);
	++*out;
	return 0;
}

/* Makes the command as the service did: arguments, hyperparameters, and a
 * folder for each trial. */
static char **make_command(char *const *argv, const json_t *values,
			   const char *job_dir, const char *number,
			   struct arena *mem)
{
	size_t count = 0, n;
	const char *name;
	json_t *value;
	char **out;

	while (argv[count])
		count++;
	out = arena_alloc(mem, (count + json_object_size(values) + 2) *
				       sizeof(*out));
	memcpy(out, argv, count * sizeof(*out));
	n = count;
	json_object_foreach((json_t *)values, name, value)
	{
		out[n++] = arena_printf(mem, "--%s=%s", name,
					json_string_value(value));
	}
	if (job_dir)
		out[n++] =
			arena_printf(mem, "--job-dir=%s/%s", job_dir, number);
	out[n] = NULL;
	return out;
}

/* Makes the trial's folder.  A trial that is restarted finds its earlier output
 * there, if the folder outlives the pod. */
static int make_folder(struct launch_trial *trial, struct arena *mem,
		       struct error *err)
{
	const char *run = getenv("JOBRUN_RUN_DIR");
	const char *folder = arena_printf(
		mem, "%s/trials/%s", run && *run ? run : ".", trial->number);

	if (folder_make(folder, err) < 0)
		return -1;
	trial->metric_file = arena_printf(mem, "%s/metric", folder);
	setenv("JOBRUN_RUN_DIR", folder, true);
	setenv("CLOUD_ML_TRIAL_ID", trial->number, true);
	setenv("CLOUD_ML_HP_METRIC_FILE", trial->metric_file, true);
	return 0;
}

static int enter(const char *trials, char *const *argv, struct arena *mem,
		 struct launch_trial *out, struct error *err)
{
	json_t *all = json_read(trials, strlen(trials), "--trials", err);
	json_t *values = NULL;
	const char *metric;
	long number;
	int ret = all ? read_number(&number, err) : -1;

	if (!all)
		err->code = ERROR_INVALID;
	if (ret < 0)
		goto out;
	metric = json_copy_text(all, "metric", mem);
	values = launch_trials_values(all, number);
	if (!metric || !values) {
		ret = error_set(err, ERROR_INVALID,
				"--trials: it has no trial %ld", number);
		goto out;
	}
	*out = (struct launch_trial){ .metric = metric };
	out->number = arena_printf(mem, "%ld", number);
	out->argv =
		make_command(argv, values, json_get_text(all, "jobDir", NULL),
			     out->number, mem);
	ret = make_folder(out, mem, err);
out:
	json_decref(values);
	json_decref(all);
	return ret;
}

static const char *result(const struct launch_trial *trial, struct arena *mem)
{
	struct trial_series series = { 0 };
	char value[NUMBER_SIZE];
	const char *out = NULL;
	struct trial_point last;
	struct error ignored;

	if (trial_series_read(trial->metric_file, trial->metric, &series,
			      &ignored) == 0 &&
	    trial_series_result(&series, &last)) {
		number_format(last.value, value);
		out = arena_printf(mem, "step=%" PRId64 " %s=%s", last.step,
				   trial->metric, value);
	}
	trial_series_done(&series);
	return out;
}

const struct provider_trials kubernetes_trials = {
	.enter = enter,
	.result = result,
};
