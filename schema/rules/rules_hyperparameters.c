/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about trainingInput.hyperparameters. */
#include <math.h>
#include <stdio.h>

#include "schema/yaml/names.h"
#include "schema/rules/rules_check.h"

#define PATH_SIZE 96
#define DISCRETE_MAX 1000

static const char *const type_names[] = {
	[PARAMETER_DOUBLE] = "DOUBLE",
	[PARAMETER_INTEGER] = "INTEGER",
	[PARAMETER_CATEGORICAL] = "CATEGORICAL",
	[PARAMETER_DISCRETE] = "DISCRETE",
};

static size_t parameter_count(const struct check *check)
{
	return check->in->hyperparameters.params.count;
}

static const struct parameter_spec *parameter(const struct check *check,
					      size_t i)
{
	const struct parameter_spec *all =
		check->in->hyperparameters.params.items;

	return &all[i];
}

static const char *path_of(size_t i, const char *name, char out[PATH_SIZE])
{
	snprintf(out, PATH_SIZE,
		 "trainingInput.hyperparameters.params[%zu]%s%s", i,
		 *name ? "." : "", name);
	return out;
}

/* Whether a value is missing; one that was given twice or refused is not. */
static bool lacks(const struct parameter_spec *one, const char *name)
{
	return !value_of(one, name) && !one->head.refused && !one->head.strange;
}

static bool is_range(const struct parameter_spec *one)
{
	return one->type == PARAMETER_DOUBLE || one->type == PARAMETER_INTEGER;
}

void check_parameter_names(const struct check *check)
{
	struct names known = { 0 };
	char path[PATH_SIZE], line[LINE_SIZE], shown[SHORT_SIZE];
	const struct node *at, *first;
	size_t i;

	if (parameter_count(check) < 2)
		return;
	for (i = 0; i < parameter_count(check); i++) {
		const struct parameter_spec *one = parameter(check, i);
		const void **slot;

		if (!one->parameter_name)
			continue;
		slot = names_at(&known, one->parameter_name,
				strlen(one->parameter_name));
		if (!*slot) {
			*slot = one;
			continue;
		}
		at = value_of(one, "parameterName");
		first = value_of(*slot, "parameterName");
		if (!at || !first)
			continue;
		broken(check, at, path_of(i, "parameterName", path),
		       "\"parameterName\" \"%s\" is already used (%s)",
		       text_short(one->parameter_name, shown),
		       line_of(check, first, at, "first used here", line));
	}
	names_done(&known);
}

static void check_range(const struct check *check, size_t i)
{
	const struct parameter_spec *one = parameter(check, i);
	/* A value that is not given is 0. */
	bool no_min = one->min_value == 0 && lacks(one, "minValue");
	bool no_max = one->max_value == 0 && lacks(one, "maxValue");
	char path[PATH_SIZE], line[LINE_SIZE];
	const struct node *min, *max;

	if (no_min || no_max)
		broken(check, one->head.node, path_of(i, "", path),
		       "\"%s\" is required for a parameter of type %s",
		       no_min ? "minValue" : "maxValue", type_names[one->type]);
	if (one->min_value <= one->max_value &&
	    (one->type != PARAMETER_INTEGER ||
	     (one->min_value == floor(one->min_value) &&
	      one->max_value == floor(one->max_value))))
		return;
	min = value_of(one, "minValue");
	max = value_of(one, "maxValue");
	if (!min || !max || one->head.refused)
		return;
	if (one->min_value > one->max_value)
		broken(check, min, path_of(i, "minValue", path),
		       "\"minValue\" %.*s is greater than \"maxValue\" %.*s "
		       "(%s)",
		       32, min->text, 32, max->text,
		       line_of(check, max, min, "the upper bound", line));
	if (one->type != PARAMETER_INTEGER)
		return;
	if (one->min_value != floor(one->min_value))
		broken(check, min, path_of(i, "minValue", path),
		       "\"minValue\" of an INTEGER must be a whole number, "
		       "not %.*s",
		       32, min->text);
	if (one->max_value != floor(one->max_value))
		broken(check, max, path_of(i, "maxValue", path),
		       "\"maxValue\" of an INTEGER must be a whole number, "
		       "not %.*s",
		       32, max->text);
}

void check_parameter_range(const struct check *check)
{
	size_t i;

	for (i = 0; i < parameter_count(check); i++)
		if (is_range(parameter(check, i)))
			check_range(check, i);
}

static void mark_type(const struct check *check,
		      const struct parameter_spec *one)
{
	mark_also(check, value_of(one, "type"), "the type of the parameter");
}

static void check_discrete(const struct check *check, size_t i)
{
	const struct parameter_spec *one = parameter(check, i);
	const struct node *at = value_of(one, "discreteValues");
	const struct doubles *values = &one->discrete_values;
	const struct item *item = at ? at->items : NULL, *before;
	char path[PATH_SIZE];
	size_t k;

	if (values->count > DISCRETE_MAX)
		broken(check, at, path_of(i, "discreteValues", path),
		       "\"discreteValues\" has %zu entries, but the maximum is "
		       "%d",
		       values->count, DISCRETE_MAX);
	if (!at || values->count != at->count)
		return;
	for (k = 1; k < values->count; k++) {
		before = item;
		item = item->next;
		if (values->items[k] > values->items[k - 1])
			continue;
		broken(check, item->value, path_of(i, "discreteValues", path),
		       "\"discreteValues\" must increase: %g follows %g",
		       values->items[k], values->items[k - 1]);
		mark_also(check, before->value, "not less than this");
		return;
	}
}

/* Returns the list for the other type, which was given instead of the right
 * one. */
static const char *other_values(const struct parameter_spec *one)
{
	return one->type == PARAMETER_CATEGORICAL ? "discreteValues"
						  : "categoricalValues";
}

static bool has_other_values(const struct parameter_spec *one)
{
	return (one->type == PARAMETER_CATEGORICAL &&
		lacks(one, "categoricalValues")) ||
	       (one->type == PARAMETER_DISCRETE &&
		lacks(one, "discreteValues"));
}

void check_parameter_values(const struct check *check)
{
	char path[PATH_SIZE];
	size_t i;

	for (i = 0; i < parameter_count(check); i++) {
		const struct parameter_spec *one = parameter(check, i);
		bool words = one->type == PARAMETER_CATEGORICAL;
		const char *name =
			words ? "categoricalValues" : "discreteValues";
		size_t count = words ? one->categorical_values.count
				     : one->discrete_values.count;

		const struct node *at;

		if (!words && one->type != PARAMETER_DISCRETE)
			continue;
		if (count) {
			if (!words)
				check_discrete(check, i);
			continue;
		}
		at = value_of(one, name);
		at = at ? at : key_of(one, other_values(one));
		if (lacks(one, name)) {
			if (at)
				broken(check, at,
				       path_of(i, other_values(one), path),
				       "\"%s\" is not for a parameter of type "
				       "%s, which has \"%s\"",
				       other_values(one), type_names[one->type],
				       name);
			else
				broken(check, one->head.node,
				       path_of(i, "", path),
				       "\"%s\" is required for a parameter of "
				       "type %s",
				       name, type_names[one->type]);
			mark_type(check, one);
		} else if (at && !at->count && !one->head.refused)
			broken(check, at, path_of(i, name, path),
			       "\"%s\" is empty", name);
	}
}

/* A logarithmic scale cannot include 0. */
void check_parameter_scale(const struct check *check)
{
	char path[PATH_SIZE], line[LINE_SIZE];
	size_t i;

	for (i = 0; i < parameter_count(check); i++) {
		const struct parameter_spec *one = parameter(check, i);
		const struct node *scale, *at;

		if (one->scale_type < SCALE_LOG ||
		    (is_range(one) && one->min_value > 0))
			continue;
		scale = value_of(one, "scaleType");
		at = value_of(one, "minValue");
		if (!scale)
			continue;
		if (is_range(one) && at && !one->head.refused &&
		    one->min_value <= 0)
			broken(check, at, path_of(i, "minValue", path),
			       "\"minValue\" must be greater than 0 with a "
			       "log scale (scaleType, %s), not %.*s",
			       line_of(check, scale, at,
				       "this scale is logarithmic", line),
			       32, at->text);
		at = value_of(one, "discreteValues");
		if (one->type == PARAMETER_DISCRETE && at &&
		    one->discrete_values.count &&
		    one->discrete_values.items[0] <= 0)
			broken(check, at, path_of(i, "discreteValues", path),
			       "\"discreteValues\" must be greater than 0 "
			       "with a log scale (scaleType, %s)",
			       line_of(check, scale, at,
				       "this scale is logarithmic", line));
	}
}

static void say_unused(const struct check *check, size_t i, const char *name)
{
	const struct parameter_spec *one = parameter(check, i);
	char path[PATH_SIZE];

	doubtful(check, key_of(one, name), path_of(i, name, path),
		 "\"%s\" has no effect on a parameter of type %s", name,
		 type_names[one->type]);
	mark_type(check, one);
}

/* Reports values that a parameter of its type does not use. */
void check_parameter_fields(const struct check *check)
{
	static const char *const bounds[] = { "minValue", "maxValue" };
	char path[PATH_SIZE];
	const struct node *at;
	const char *name;
	size_t i, k;

	for (i = 0; i < parameter_count(check); i++) {
		const struct parameter_spec *one = parameter(check, i);
		bool words = one->type == PARAMETER_CATEGORICAL;

		if (one->type == PARAMETER_TYPE_UNSPECIFIED ||
		    !(words || one->categorical_values.count ||
		      (is_range(one) && one->discrete_values.count)))
			continue;
		for (k = 0; words && k < COUNT(bounds); k++) {
			at = key_of(one, bounds[k]);
			if (!at)
				continue;
			broken(check, at, path_of(i, bounds[k], path),
			       "\"%s\" must not be given for a parameter of "
			       "type CATEGORICAL",
			       bounds[k]);
			mark_type(check, one);
			break;
		}
		at = key_of(one, "scaleType");
		if (words && at && one->scale_type != SCALE_NONE) {
			doubtful(check, at, path_of(i, "scaleType", path),
				 "\"scaleType\" has no effect on a parameter "
				 "of type CATEGORICAL");
			mark_type(check, one);
		}
		name = words ? "discreteValues" : "categoricalValues";
		at = key_of(one, name);
		if (at && !has_other_values(one))
			say_unused(check, i, name);
		if (is_range(one) && key_of(one, "discreteValues"))
			say_unused(check, i, "discreteValues");
	}
}

void check_parameters(const struct check *check)
{
	const struct hyperparameter_spec *spec = &check->in->hyperparameters;
	const struct node *at;

	if (!spec->head.node || spec->params.count)
		return;
	at = value_of(spec, "params");
	if (at && at->kind == NODE_LIST && !at->count)
		broken(check, at, "trainingInput.hyperparameters.params",
		       "\"params\" is empty: there is nothing to tune");
}

void check_grid_search(const struct check *check)
{
	const struct hyperparameter_spec *spec = &check->in->hyperparameters;
	const struct node *at, *other;
	char line[LINE_SIZE];
	size_t i;

	if (spec->algorithm != ALGORITHM_GRID_SEARCH)
		return;
	at = value_of(spec, "algorithm");
	if (!at)
		return;
	for (i = 0; i < spec->params.count; i++) {
		const struct parameter_spec *one = parameter(check, i);

		if (one->type != PARAMETER_DOUBLE)
			continue;
		other = value_of(one, "type");
		if (!other)
			continue;
		broken(check, at, "trainingInput.hyperparameters.algorithm",
		       "\"algorithm\" GRID_SEARCH can't try all values of a "
		       "DOUBLE (%s)",
		       line_of(check, other, at,
			       "a DOUBLE has infinitely many values", line));
		return;
	}
}

void check_trials(const struct check *check)
{
	const struct hyperparameter_spec *spec = &check->in->hyperparameters;

	const struct node *at, *all;
	char line[LINE_SIZE];

	if (spec->max_parallel_trials <= spec->max_trials || spec->head.refused)
		return;
	/* A flag may set the other one. */
	at = value_of(spec, "maxParallelTrials");
	all = value_of(spec, "maxTrials");
	if (!at || !all)
		return;
	broken(check, at, "trainingInput.hyperparameters.maxParallelTrials",
	       "\"maxParallelTrials\" %ld is more than maxTrials %ld (%s)",
	       spec->max_parallel_trials, spec->max_trials,
	       line_of(check, all, at, "the total", line));
}
