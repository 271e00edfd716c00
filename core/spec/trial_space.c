/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/trial_space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/units.h"

#define DRAWS_MAX 1000 /* tries to find new values */

/* Returns the number of values of a parameter; UINT64_MAX means unlimited. */
static uint64_t count_values(const struct parameter_spec *param)
{
	switch ((enum parameter_type)param->type) {
	case PARAMETER_INTEGER:
		return (uint64_t)(param->max_value - param->min_value) + 1;
	case PARAMETER_CATEGORICAL:
		return param->categorical_values.count;
	case PARAMETER_DISCRETE:
		return param->discrete_values.count;
	default:
		return UINT64_MAX;
	}
}

static uint64_t count_points(const struct trial_space *space)
{
	uint64_t points = 1;

	for (size_t i = 0; i < space->param_count; i++) {
		uint64_t values = count_values(&space->params[i]);

		if (values == UINT64_MAX ||
		    __builtin_mul_overflow(points, values, &points))
			return UINT64_MAX;
	}
	return points;
}

/* Computes FNV-1a. */
static uint64_t hash(uint64_t before, const char *text)
{
	for (; *text; text++)
		before = (before ^ (unsigned char)*text) * 0x100000001b3;
	return (before ^ 0xff) * 0x100000001b3;
}

void trial_space_init(struct trial_space *space,
		      const struct hyperparameter_spec *spec, const char *seed)
{
	*space = (struct trial_space){
		.params = spec->params.items,
		.param_count = spec->params.count,
		.seed = hash(0xcbf29ce484222325, seed),
		.trials = spec->max_trials,
	};
	space->points = count_points(space);
	space->grid = spec->algorithm == ALGORITHM_GRID_SEARCH ||
		      (spec->algorithm == ALGORITHM_UNSPECIFIED &&
		       space->points <= (uint64_t)spec->max_trials);
	if (space->points < (uint64_t)space->trials)
		space->trials = (long)space->points;
}

void trial_space_done(struct trial_space *space)
{
	free(space->chosen);
	space->chosen = NULL;
}

/* Computes splitmix64 by Sebastiano Vigna, which mixes any counter well. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

/* Draws a number from 0 up to, but not including, 1. */
static double draw(const struct trial_space *space, long trial, int try,
		   size_t param)
{
	uint64_t x =
		mix(mix(mix(space->seed + (uint64_t)trial) + (uint64_t)try) +
		    param);

	return (double)(x >> 11) * 0x1p-53;
}

/*
 * Returns the value at the fraction `u` of the way from min to max.  On a log
 * scale all orders of magnitude have the same length; the reverse log scale is
 * fine at the upper end instead of the lower.
 */
static double on_scale(enum scale_type scale, double min, double max, double u)
{
	double value = min + (max - min) * u;

	if (scale == SCALE_LOG || scale == SCALE_REVERSE_LOG) {
		if (scale == SCALE_REVERSE_LOG)
			u = 1 - u;
		value = exp(log(min) + (log(max) - log(min)) * u);
		if (scale == SCALE_REVERSE_LOG)
			value = max + min - value;
	}
	return fmin(fmax(value, min), max);
}

/* Returns the index of the value nearest to `u`, as the scale measures. */
static size_t nearest(const struct parameter_spec *param, double u)
{
	const struct doubles *values = &param->discrete_values;
	double value =
		on_scale((enum scale_type)param->scale_type, values->items[0],
			 values->items[values->count - 1], u);
	bool log_scale = param->scale_type == SCALE_LOG;
	size_t best = 0;

	for (size_t i = 1; i < values->count; i++) {
		double a = values->items[i], b = values->items[best];

		if (log_scale ? fabs(log(a / value)) < fabs(log(b / value))
			      : fabs(a - value) < fabs(b - value))
			best = i;
	}
	return best;
}

static const char *number(double value, struct arena *mem)
{
	char text[NUMBER_SIZE];

	number_format(value, text);
	return arena_strdup(mem, text);
}

/* Returns the i-th value of a parameter with finitely many. */
static const char *value_at(const struct parameter_spec *param, uint64_t i,
			    struct arena *mem)
{
	switch ((enum parameter_type)param->type) {
	case PARAMETER_CATEGORICAL:
		return param->categorical_values.items[i];
	case PARAMETER_DISCRETE:
		return number(param->discrete_values.items[i], mem);
	default:
		return arena_printf(mem, "%.0f", param->min_value + (double)i);
	}
}

static const char *value_drawn(const struct parameter_spec *param, double u,
			       struct arena *mem)
{
	enum scale_type scale = (enum scale_type)param->scale_type;
	uint64_t count = count_values(param);

	if (param->type == PARAMETER_DOUBLE)
		return number(
			on_scale(scale, param->min_value, param->max_value, u),
			mem);
	if (param->type == PARAMETER_INTEGER && scale != SCALE_NONE)
		/* The range is half a step longer at both ends, so that the
		 * first and the last value are as likely as the others. */
		return arena_printf(
			mem, "%.0f",
			fmin(fmax(round(on_scale(scale, param->min_value,
						 param->max_value, u)),
				  param->min_value),
			     param->max_value));
	if (param->type == PARAMETER_DISCRETE && scale != SCALE_NONE)
		return value_at(param, nearest(param, u), mem);
	return value_at(param, (uint64_t)(u * (double)count), mem);
}

/* Chooses a point of the grid.  With more points than trials, the trials are
 * spread evenly over them. */
static void choose_point(const struct trial_space *space, long trial,
			 const char **values, struct arena *mem)
{
	uint64_t point = (uint64_t)((unsigned __int128)space->points *
				    (uint64_t)trial / (uint64_t)space->trials);

	for (size_t i = space->param_count; i-- > 0;) {
		uint64_t count = count_values(&space->params[i]);

		values[i] = value_at(&space->params[i], point % count, mem);
		point /= count;
	}
}

/* Adds a digest; returns false if the table has it. */
static bool add_digest(uint64_t *table, size_t size, uint64_t digest)
{
	size_t at = (size_t)mix(digest) & (size - 1);

	for (; table[at]; at = (at + 1) & (size - 1))
		if (table[at] == digest)
			return false;
	table[at] = digest;
	return true;
}

static void grow(struct trial_space *space)
{
	size_t size = space->chosen_size ? 2 * space->chosen_size : 16, i;
	uint64_t *table = mem_alloc(size * sizeof(*table));

	for (i = 0; i < space->chosen_size; i++)
		if (space->chosen[i])
			add_digest(table, size, space->chosen[i]);
	free(space->chosen);
	space->chosen = table;
	space->chosen_size = size;
}

/* Returns whether the values are new, and remembers them. */
static bool is_new(struct trial_space *space, const char **values)
{
	uint64_t digest = space->seed;

	for (size_t i = 0; i < space->param_count; i++)
		digest = hash(digest, values[i]);
	digest += !digest;
	if (2 * (size_t)(space->chosen_count + 1) > space->chosen_size)
		grow(space);
	if (!add_digest(space->chosen, space->chosen_size, digest))
		return false;
	space->chosen_count++;
	return true;
}

const char **trial_space_next(struct trial_space *space, struct arena *mem)
{
	const char **values =
		arena_alloc(mem, space->param_count * sizeof(*values));
	long trial = space->chosen_count;
	int try = 0;

	if (space->grid) {
		choose_point(space, trial, values, mem);
		is_new(space, values);
		return values;
	}
	do {
		for (size_t i = 0; i < space->param_count; i++)
			values[i] =
				value_drawn(&space->params[i],
					    draw(space, trial, try, i), mem);
	} while (!is_new(space, values) && ++try < DRAWS_MAX);
	/* Values that are tried twice count as chosen, too. */
	if (try == DRAWS_MAX)
		space->chosen_count++;
	return values;
}

char *trial_space_describe(const struct parameter_spec *param)
{
	static const char *const scales[] = { "", "", ", log",
					      ", reverse log" };
	struct arena *mem = arena_new();
	struct buf out = { 0 };

	if (param->type == PARAMETER_DOUBLE || param->type == PARAMETER_INTEGER)
		buf_printf(&out, "%s to %s%s", number(param->min_value, mem),
			   number(param->max_value, mem),
			   param->type == PARAMETER_INTEGER ? ", whole" : "");
	else
		for (uint64_t i = 0; i < count_values(param); i++)
			buf_printf(&out, "%s%s", i ? ", " : "",
				   value_at(param, i, mem));
	buf_puts(&out, scales[param->scale_type]);
	arena_free(mem);
	return buf_take(&out);
}
