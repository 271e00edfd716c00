/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/vertexai/study.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "providers/google/managed/managed.h"

/* Returns a number as a string, as the API has int64 fields. */
static json_t *int64_text(const json_t *number)
{
	return json_sprintf("%lld", (long long)json_number_value(number));
}

static void put_range(const json_t *from, bool is_integer, json_t *out)
{
	const json_t *low = json_object_get(from, "minValue");
	const json_t *high = json_object_get(from, "maxValue");
	json_t *range = json_object();

	json_put(range, "minValue",
		 is_integer ? int64_text(low)
			    : json_real(json_number_value(low)));
	json_put(range, "maxValue",
		 is_integer ? int64_text(high)
			    : json_real(json_number_value(high)));
	json_put(out, is_integer ? "integerValueSpec" : "doubleValueSpec",
		 range);
}

static void put_values(const json_t *values, const char *key, json_t *out)
{
	json_t *spec = json_object();

	json_put(spec, "values",
		 values ? json_deep_copy(values) : json_array());
	json_put(out, key, spec);
}

static json_t *parameter(const json_t *from)
{
	const char *type = json_get_text(from, "type", "");
	const char *scale = json_get_text(from, "scaleType", "NONE");
	json_t *out = json_object();

	json_put_text(out, "parameterId",
		      json_get_text(from, "parameterName", ""));
	if (!strcmp(type, "DOUBLE") || !strcmp(type, "INTEGER"))
		put_range(from, !strcmp(type, "INTEGER"), out);
	else if (!strcmp(type, "CATEGORICAL"))
		put_values(json_object_get(from, "categoricalValues"),
			   "categoricalValueSpec", out);
	else if (!strcmp(type, "DISCRETE"))
		put_values(json_object_get(from, "discreteValues"),
			   "discreteValueSpec", out);
	/* NONE is AI Platform's name for the unspecified scale. */
	if (strcmp(scale, "NONE") != 0)
		json_put_text(out, "scaleType", scale);
	return out;
}

static json_t *metrics(const json_t *from)
{
	json_t *metric = json_object();

	json_put_text(metric, "metricId",
		      json_get_text(from, "hyperparameterMetricTag", ""));
	json_put_text(metric, "goal",
		      json_get_text(from, "goal", "GOAL_TYPE_UNSPECIFIED"));
	return json_pack("[o]", metric);
}

static json_t *study(const json_t *from)
{
	const char *algorithm = json_get_text(from, "algorithm", "");
	json_t *parameters = json_array();
	json_t *out = json_object();
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(from, "params"), i, item)
		json_array_append_new(parameters, parameter(item));
	json_put(out, "metrics", metrics(from));
	json_put(out, "parameters", parameters);
	if (!strcmp(algorithm, "GRID_SEARCH") ||
	    !strcmp(algorithm, "RANDOM_SEARCH"))
		json_put_text(out, "algorithm", algorithm);
	/* AI Platform did not say by which rule it stopped trials early; the
	 * median rule needs only the metric itself. */
	if (json_is_true(json_object_get(from, "enableTrialEarlyStopping")))
		json_put(out, "medianAutomatedStoppingSpec",
			 json_pack("{s:b}", "useElapsedDuration", 0));
	return out;
}

void study_put(const json_t *from, json_t *job)
{
	long long failed = json_get_int(from, "maxFailedTrials", 0);

	json_put(job, "studySpec", study(from));
	json_put_int(job, "maxTrialCount", json_get_int(from, "maxTrials", 1));
	json_put_int(job, "parallelTrialCount",
		     json_get_int(from, "maxParallelTrials", 1));
	if (failed)
		json_put_int(job, "maxFailedTrialCount", failed);
}

/* ---- results ----------------------------------------------------------- */

static enum run_state trial_state(const char *name)
{
	static const struct {
		const char *name;
		enum run_state state;
	} states[] = {
		{ "ACTIVE", RUN_RUNNING },
		{ "STOPPING", RUN_CANCELLING },
		{ "SUCCEEDED", RUN_SUCCEEDED },
		{ "INFEASIBLE", RUN_FAILED },
	};
	size_t i;

	for (i = 0; i < COUNT(states); i++)
		if (!strcmp(states[i].name, name))
			return states[i].state;
	return RUN_QUEUED;
}

/* Returns {"lr": "0.01"}; the service gives values as numbers or strings. */
static const char *trial_parameters(const json_t *list, struct arena *mem)
{
	json_t *all = json_object();
	const char *out;
	const json_t *item;
	char *text;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const json_t *value = json_object_get(item, "value");
		const char *name = json_get_text(item, "parameterId", "");

		if (json_is_number(value))
			json_put_text(all, name,
				      arena_printf(mem, "%.15g",
						   json_number_value(value)));
		else if (json_is_string(value))
			json_put_text(all, name, json_string_value(value));
	}
	text = json_canonical(all);
	out = arena_strdup(mem, text);
	free(text);
	json_decref(all);
	return out;
}

void study_read_trial(const json_t *trial, struct arena *mem,
		      struct trial_record *out)
{
	const json_t *all = json_object_get(trial, "measurements");
	const json_t *measured = json_object_get(trial, "finalMeasurement");
	const json_t *metric;

	out->number = (int)managed_int64(trial, "id", 0);
	out->state = trial_state(json_get_text(trial, "state", ""));
	out->parameters =
		trial_parameters(json_object_get(trial, "parameters"), mem);
	/* A running trial has no final measurement, so take the newest. */
	if (!measured && json_array_size(all))
		measured = json_array_get(all, json_array_size(all) - 1);
	metric = json_array_get(json_object_get(measured, "metrics"), 0);
	if (metric) {
		out->value =
			json_number_value(json_object_get(metric, "value"));
		out->step = managed_int64(measured, "stepCount", -1);
	}
	if (out->state == RUN_FAILED)
		out->error = arena_strdup(
			mem, json_get_text(trial, "infeasibleReason",
					   "the service calls it infeasible"));
	out->start_time_ms = managed_time(trial, "startTime");
	out->end_time_ms = managed_time(trial, "endTime");
}
