/* SPDX-License-Identifier: Apache-2.0 */
/* The values that trials try, and their reports. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/spec/trial_space.h"
#include "core/trial/trial_value.h"

static const char *colors[] = { "red", "green", "blue" };
static double sizes[] = { 1, 2, 4, 8, 1000 };

static struct hyperparameter_spec spec_of(struct parameter_spec *params,
					  size_t count, long trials,
					  enum search_algorithm algorithm)
{
	return (struct hyperparameter_spec){
		.params = { count, params },
		.max_trials = trials,
		.algorithm = algorithm,
	};
}

/* Returns the values of all trials as "a,b;a,c;". */
static char *list(const struct hyperparameter_spec *spec, const char *seed,
		  bool *grid)
{
	struct arena *mem = arena_new();
	struct trial_space space;
	struct buf out = { 0 };

	trial_space_init(&space, spec, seed);
	for (long i = 0; i < space.trials; i++) {
		const char **values = trial_space_next(&space, mem);

		for (size_t k = 0; k < space.param_count; k++)
			buf_printf(&out, "%s%s", k ? "," : "", values[k]);
		buf_putc(&out, ';');
	}
	if (grid)
		*grid = space.grid;
	trial_space_done(&space);
	arena_free(mem);
	return buf_take(&out);
}

static void a_grid_has_every_point(void **state)
{
	struct parameter_spec params[] = {
		{ .parameter_name = "n",
		  .type = PARAMETER_INTEGER,
		  .min_value = -1,
		  .max_value = 1 },
		{ .parameter_name = "c",
		  .type = PARAMETER_CATEGORICAL,
		  .categorical_values = { 2, colors } },
	};
	struct hyperparameter_spec spec =
		spec_of(params, 2, 100, ALGORITHM_GRID_SEARCH);
	char *text = list(&spec, "job", NULL);
	bool grid;

	(void)state;
	assert_string_equal(text, "-1,red;-1,green;0,red;0,green;1,red;"
				  "1,green;");
	free(text);
	/* Fewer trials are spread over the grid. */
	spec.max_trials = 3;
	text = list(&spec, "job", NULL);
	assert_string_equal(text, "-1,red;0,red;1,red;");
	free(text);
	/* Without an algorithm a grid is used if all of it is tried. */
	spec.algorithm = ALGORITHM_UNSPECIFIED;
	free(list(&spec, "job", &grid));
	assert_false(grid);
	spec.max_trials = 6;
	free(list(&spec, "job", &grid));
	assert_true(grid);
}

static void random_values_follow_from_the_seed(void **state)
{
	struct parameter_spec params[] = {
		{ .parameter_name = "lr",
		  .type = PARAMETER_DOUBLE,
		  .min_value = 1e-4,
		  .max_value = 1,
		  .scale_type = SCALE_LOG },
		{ .parameter_name = "n",
		  .type = PARAMETER_INTEGER,
		  .min_value = 1,
		  .max_value = 9 },
	};
	struct hyperparameter_spec spec =
		spec_of(params, 2, 5, ALGORITHM_RANDOM_SEARCH);
	char *a = list(&spec, "job", NULL), *b = list(&spec, "job", NULL);
	char *c = list(&spec, "another", NULL);

	(void)state;
	assert_string_equal(a, b);
	assert_string_not_equal(a, c);
	free(a);
	free(b);
	free(c);
}

static void no_point_is_tried_twice(void **state)
{
	struct parameter_spec params[] = {
		{ .parameter_name = "c",
		  .type = PARAMETER_CATEGORICAL,
		  .categorical_values = { 3, colors } },
	};
	struct hyperparameter_spec spec =
		spec_of(params, 1, 50, ALGORITHM_RANDOM_SEARCH);
	char *text = list(&spec, "x", NULL);

	(void)state;
	/* There are no more trials than points. */
	assert_int_equal(strlen(text), strlen("red;green;blue;"));
	assert_non_null(strstr(text, "red;"));
	assert_non_null(strstr(text, "green;"));
	assert_non_null(strstr(text, "blue;"));
	free(text);
}

/* Returns the share of values below `at` among many random ones. */
static double share_below(struct parameter_spec param, double at, double *least,
			  double *greatest)
{
	struct hyperparameter_spec spec =
		spec_of(&param, 1, 2000, ALGORITHM_RANDOM_SEARCH);
	struct arena *mem = arena_new();
	struct trial_space space;
	long below = 0, count;

	*least = INFINITY;
	*greatest = -INFINITY;
	trial_space_init(&space, &spec, "seed");
	count = space.trials;
	for (long i = 0; i < count; i++) {
		double value = strtod(trial_space_next(&space, mem)[0], NULL);

		below += value < at;
		*least = fmin(*least, value);
		*greatest = fmax(*greatest, value);
	}
	trial_space_done(&space);
	arena_free(mem);
	return (double)below / (double)count;
}

static void scales_are_kept_to(void **state)
{
	static const struct {
		enum parameter_type type;
		enum scale_type scale;
		double at; /* the median of the values */
	} cases[] = {
		{ PARAMETER_DOUBLE, SCALE_NONE, 50000.5 },
		{ PARAMETER_DOUBLE, SCALE_LINEAR, 50000.5 },
		{ PARAMETER_DOUBLE, SCALE_LOG, 316 },
		{ PARAMETER_DOUBLE, SCALE_REVERSE_LOG, 100001 - 316 },
		{ PARAMETER_INTEGER, SCALE_NONE, 50000.5 },
		{ PARAMETER_INTEGER, SCALE_LINEAR, 50000.5 },
	};
	double least, greatest;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct parameter_spec param = {
			.parameter_name = "x",
			.type = cases[i].type,
			.scale_type = cases[i].scale,
			.min_value = 1,
			.max_value = 100000,
		};
		double share =
			share_below(param, cases[i].at, &least, &greatest);

		assert_true(share > 0.45 && share < 0.55);
		assert_true(least >= 1 && greatest <= 100000);
		assert_true(greatest > least);
	}
}

static void discrete_values_are_near_on_their_scale(void **state)
{
	struct parameter_spec param = {
		.parameter_name = "x",
		.type = PARAMETER_DISCRETE,
		.scale_type = SCALE_LINEAR,
		.discrete_values = { 5, sizes },
	};
	struct hyperparameter_spec spec =
		spec_of(&param, 1, 1, ALGORITHM_RANDOM_SEARCH);
	int small = 0;

	(void)state;
	for (int i = 0; i < 400; i++) {
		char seed[16];
		char *text;

		snprintf(seed, sizeof(seed), "%d", i);
		text = list(&spec, seed, NULL);
		small += strtod(text, NULL) < 1000;
		free(text);
	}
	/* Halfway from 8 to 1000. */
	assert_true(small > 170 && small < 240);
}

static void numbers_are_short_and_exact(void **state)
{
	double values[] = { 0.1, 1e-05, 1.0 / 3 };
	struct parameter_spec param = { .parameter_name = "x",
					.type = PARAMETER_DISCRETE,
					.discrete_values = { 3, values } };
	struct hyperparameter_spec spec =
		spec_of(&param, 1, 3, ALGORITHM_GRID_SEARCH);
	char *text = list(&spec, "x", NULL);

	(void)state;
	assert_string_equal(text, "0.1;1e-05;0.3333333333333333;");
	free(text);
}

static void metric_files_are_read(void **state)
{
	static const char text[] =
		"{\"global_step\": \"10\", \"acc\": \"0.98\", \"timestamp\": "
		"1525851440.12, \"trial\": \"0\"}\n"
		"{\"global_step\": 20, \"acc\": 0.5}\n"
		"{\"acc\": \"nan\"}\n"
		"{\"acc\": \"0.4\"}\n"
		"{\"acc\": \"fine\"}\n"
		"{\"loss\": \"0.3\"}\n"
		"[]\n\n"
		"{\"global_step\": \"40\", \"acc\": \"0.9";
	struct trial_series series = { 0 };
	struct trial_point last;

	(void)state;
	trial_series_parse(text, strlen(text), "acc", &series);
	assert_int_equal(series.count, 3);
	assert_float_equal(series.points[0].value, 0.98, 0);
	assert_int_equal(series.points[0].step, 10);
	assert_int_equal(series.points[1].step, 20);
	assert_int_equal(series.points[2].step, 3);
	assert_true(trial_series_result(&series, &last));
	assert_float_equal(last.value, 0.4, 0);
	trial_series_done(&series);
	assert_false(trial_series_result(&series, &last));
}

static void the_worse_half_is_hopeless(void **state)
{
	struct trial_series done[3] = { 0 };
	struct trial_series self = { 0 };

	(void)state;
	for (int i = 0; i < 3; i++)
		for (int step = 1; step <= 4; step++)
			trial_series_add(&done[i], (i + 1) * step, step);
	/* Means up to step 2: 1.5, 3, 4.5. */
	assert_false(trial_is_hopeless(GOAL_MAXIMIZE, &self, done, 3));
	trial_series_add(&self, 2.5, 2);
	assert_true(trial_is_hopeless(GOAL_MAXIMIZE, &self, done, 3));
	assert_false(trial_is_hopeless(GOAL_MINIMIZE, &self, done, 3));
	/* Too few trials to decide. */
	assert_false(trial_is_hopeless(GOAL_MAXIMIZE, &self, done, 2));
	/* The best value counts, not the last. */
	trial_series_add(&self, 9, 3);
	trial_series_add(&self, 0, 4);
	assert_false(trial_is_hopeless(GOAL_MAXIMIZE, &self, done, 3));
	trial_series_done(&self);
	trial_series_add(&self, 3.5, 2);
	assert_true(trial_is_hopeless(GOAL_MINIMIZE, &self, done, 3));
	trial_series_done(&self);
	/* No other trial has a value that early. */
	trial_series_add(&self, -100, 0);
	assert_false(trial_is_hopeless(GOAL_MAXIMIZE, &self, done, 3));
	trial_series_done(&self);
	for (int i = 0; i < 3; i++)
		trial_series_done(&done[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_grid_has_every_point),
		cmocka_unit_test(random_values_follow_from_the_seed),
		cmocka_unit_test(no_point_is_tried_twice),
		cmocka_unit_test(scales_are_kept_to),
		cmocka_unit_test(discrete_values_are_near_on_their_scale),
		cmocka_unit_test(numbers_are_short_and_exact),
		cmocka_unit_test(metric_files_are_read),
		cmocka_unit_test(the_worse_half_is_hopeless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
