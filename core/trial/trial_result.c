/* SPDX-License-Identifier: Apache-2.0 */
#include "core/trial/trial_result.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/store/store.h"

#define RESULT_MAX ((size_t)1 << 20)
/* The most points kept of a trial, as each trial reads those of all others. */
#define POINTS_MAX 1000

void trial_result_done(struct trial_result *result)
{
	trial_series_done(&result->series);
}

static json_t *points_json(const struct trial_series *series)
{
	size_t each = series->count / POINTS_MAX + 1;
	json_t *out = json_array();

	/* Points are counted from the end, as the last one judges a trial. */
	for (size_t i = 0; i < series->count; i++)
		if ((series->count - 1 - i) % each == 0)
			json_array_append_new(
				out,
				json_pack("[fI]", series->points[i].value,
					  (json_int_t)series->points[i].step));
	return out;
}

int trial_result_write(const char *attempt, const struct trial_result *result,
		       struct error *err)
{
	char *path = path_join(attempt, "result");
	json_t *value = json_object();
	int ret;

	json_put_text(value, "state", run_state_name(result->state));
	json_put_int(value, "exitCode", result->exit_code);
	json_put(value, "early", json_boolean(result->early));
	json_put_int(value, "timeMs", result->time_ms);
	json_put(value, "points", points_json(&result->series));
	json_put(value, "broken", json_boolean(result->series.broken));
	ret = json_file_write(path, value, err);
	json_decref(value);
	free(path);
	return ret;
}

static void take_points(const json_t *points, struct trial_series *out)
{
	for (size_t i = 0; i < json_array_size(points); i++) {
		const json_t *point = json_array_get(points, i);

		trial_series_add(out,
				 json_number_value(json_array_get(point, 0)),
				 json_integer_value(json_array_get(point, 1)));
	}
}

static int take(const json_t *value, const char *path, struct trial_result *out,
		struct error *err)
{
	enum run_state state;

	if (run_state_parse(json_get_text(value, "state", ""), &state) < 0)
		return error_set(err, ERROR_FAILED, "'%s' is not understood",
				 path);
	*out = (struct trial_result){
		.state = state,
		.exit_code = (int)json_get_int(value, "exitCode", -1),
		.early = json_is_true(json_object_get(value, "early")),
		.time_ms = json_get_int(value, "timeMs", 0),
	};
	take_points(json_object_get(value, "points"), &out->series);
	out->series.broken = json_is_true(json_object_get(value, "broken"));
	return 0;
}

int trial_result_read(const char *attempt, struct trial_result *out,
		      struct error *err)
{
	char *path = path_join(attempt, "result");
	json_t *value;
	int ret = json_file_read(path, RESULT_MAX, &value, err);

	if (ret == 0)
		ret = take(value, path, out, err);
	json_decref(value);
	free(path);
	return ret;
}

/* Returns the folder of the last attempt at a trial, "…/trials/K/attempts/N" in
 * the folder of the run, allocated in `mem`; NULL if the trial has not
 * begun. */
static const char *trial_last_attempt(const char *run, int number,
				      struct arena *mem)
{
	const char *last = NULL, *next;

	for (int i = 0;; i++) {
		next = arena_printf(mem, "%s/trials/%d/attempts/%d", run,
				    number, i);
		if (access(next, F_OK) < 0)
			return last;
		last = next;
	}
}

int trial_results_read(const char *run, long trials, struct trial_results *out,
		       struct error *err)
{
	struct arena *mem = arena_new();
	int ret = 0;

	*out = (struct trial_results){
		.items = mem_alloc((size_t)trials * sizeof(*out->items) + 1),
	};
	for (int k = 1; ret >= 0 && k <= trials; k++) {
		struct trial_result *one = &out->items[out->count];
		const char *attempt = trial_last_attempt(run, k, mem);

		ret = attempt ? trial_result_read(attempt, one, err) : 1;
		if (ret == 0) {
			one->number = k;
			out->count++;
		}
	}
	arena_free(mem);
	if (ret >= 0)
		return 0;
	trial_results_done(out);
	return -1;
}

void trial_results_done(struct trial_results *results)
{
	for (size_t i = 0; i < results->count; i++)
		trial_result_done(&results->items[i]);
	free(results->items);
	*results = (struct trial_results){ 0 };
}

void trial_record_judge(struct trial_record *record,
			const struct trial_series *series)
{
	struct trial_point last = { .value = NAN, .step = -1 };

	if (!trial_series_result(series, &last) && series->broken &&
	    record->state == RUN_SUCCEEDED && !record->error)
		record->error = "its last value of the metric is not a number, "
				"so it has none";
	record->value = last.value;
	record->step = last.step;
}

void trial_result_record(const struct trial_result *result,
			 struct trial_record *out)
{
	out->state = result->state;
	out->exit_code = result->exit_code;
	out->early = result->early;
	out->end_time_ms = result->time_ms;
	trial_record_judge(out, &result->series);
}
