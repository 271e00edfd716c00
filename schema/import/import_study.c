/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gcloud [alpha|beta] ai hp-tuning-jobs create: the study of a tuning job.
 * What AI Platform's fields cannot express stays in the form of the API.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "schema/import/import.h"

#define HP "trainingInput.hyperparameters."

/* Moves a value of the study to a field of the job. */
static void move(struct import *import, json_t *from, const char *key,
		 const char *path)
{
	json_t *value = json_object_get(from, key);

	if (value && !import_get(import->job, path))
		import_set(import->job, path, json_incref(value));
	json_object_del(from, key);
}

/* Returns a number; the API writes int64 values as strings. */
static json_t *number(const json_t *value)
{
	if (!json_is_string(value))
		return json_deep_copy(value);
	return json_integer(strtoll(json_string_value(value), NULL, 10));
}

static const char *take_range(json_t *spec, const char *type, json_t *out)
{
	json_put(out, "minValue", number(json_object_get(spec, "minValue")));
	json_put(out, "maxValue", number(json_object_get(spec, "maxValue")));
	json_object_del(spec, "minValue");
	json_object_del(spec, "maxValue");
	return type;
}

static const char *take_values(json_t *spec, const char *type, const char *key,
			       json_t *out)
{
	json_put(out, key, json_deep_copy(json_object_get(spec, "values")));
	json_object_del(spec, "values");
	return type;
}

/* Takes out of a parameter what AI Platform's form can express. */
static json_t *parameter(json_t *from)
{
	json_t *out = json_object(), *spec;
	const char *type = NULL;
	json_t *id = json_object_get(from, "parameterId");
	json_t *scale = json_object_get(from, "scaleType");

	json_put(out, "parameterName", id ? json_incref(id) : json_text(""));
	json_object_del(from, "parameterId");
	if ((spec = json_object_get(from, "doubleValueSpec")))
		type = take_range(spec, "DOUBLE", out);
	else if ((spec = json_object_get(from, "integerValueSpec")))
		type = take_range(spec, "INTEGER", out);
	else if ((spec = json_object_get(from, "categoricalValueSpec")))
		type = take_values(spec, "CATEGORICAL", "categoricalValues",
				   out);
	else if ((spec = json_object_get(from, "discreteValueSpec")))
		type = take_values(spec, "DISCRETE", "discreteValues", out);
	if (type)
		json_put_text(out, "type", type);
	if (scale)
		json_put(out, "scaleType", json_incref(scale));
	json_object_del(from, "scaleType");
	return out;
}

static void take_parameters(struct import *import, json_t *study)
{
	json_t *list = json_object_get(study, "parameters"), *item;
	json_t *out = json_array();
	size_t i;

	json_array_foreach(list, i, item)
		json_array_append_new(out, parameter(item));
	import_set(import->job, HP "params", out);
}

static void take_metric(struct import *import, json_t *study)
{
	json_t *metric = json_array_get(json_object_get(study, "metrics"), 0);

	move(import, metric, "goal", HP "goal");
	move(import, metric, "metricId", HP "hyperparameterMetricTag");
}

/* Turns the median rule by steps into enableTrialEarlyStopping. */
static void take_stopping(struct import *import, json_t *study)
{
	json_t *rule = json_object_get(study, "medianAutomatedStoppingSpec");

	if (!rule)
		return;
	import_set(import->job, HP "enableTrialEarlyStopping", json_true());
	if (!json_is_true(json_object_get(rule, "useElapsedDuration")))
		json_object_del(study, "medianAutomatedStoppingSpec");
}

void import_study(struct import *import, json_t *config)
{
	json_t *study = json_object_get(config, "studySpec");
	const char *algorithm = json_get_text(study, "algorithm", "");

	if (!study)
		return;
	take_metric(import, study);
	take_parameters(import, study);
	take_stopping(import, study);
	if (!strcmp(algorithm, "GRID_SEARCH") ||
	    !strcmp(algorithm, "RANDOM_SEARCH"))
		move(import, study, "algorithm", HP "algorithm");
	move(import, config, "maxTrialCount", HP "maxTrials");
	move(import, config, "parallelTrialCount", HP "maxParallelTrials");
	move(import, config, "maxFailedTrialCount", HP "maxFailedTrials");
}
