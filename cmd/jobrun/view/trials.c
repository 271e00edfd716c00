/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/trials.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/spec/spec.h"

const struct hyperparameter_spec *trials_spec(struct session *session,
					      const struct run_record *run,
					      struct arena *mem)
{
	char *folder =
		store_run_folder(session->env.store, run->job_id, run->attempt);
	struct run_spec *spec = arena_alloc(mem, sizeof(*spec));
	struct error ignored;
	int ret = spec_read(folder, mem, spec, &ignored);

	free(folder);
	return ret == 0 && spec->tuning.params.count ? &spec->tuning : NULL;
}

const struct trial_record *trials_best(const struct trial_list *trials,
				       const struct hyperparameter_spec *spec)
{
	double sign = spec->goal == GOAL_MINIMIZE ? -1 : 1;
	const struct trial_record *best = NULL;

	for (size_t i = 0; i < trials->count; i++) {
		const struct trial_record *trial = &trials->items[i];

		if (trial->state != RUN_SUCCEEDED || isnan(trial->value))
			continue;
		if (!best || sign * trial->value > sign * best->value)
			best = trial;
	}
	return best;
}

/* Returns the parameters as a new value, an empty object if they can't be
 * read. */
static json_t *parameters(const struct trial_record *trial)
{
	struct error ignored;
	json_t *map = json_read(trial->parameters, strlen(trial->parameters),
				"store", &ignored);

	return map ? map : json_object();
}

void trial_put_arguments(const struct trial_record *trial, struct buf *out)
{
	json_t *map = parameters(trial), *value;
	const char *name, *blank = "";

	json_object_foreach(map, name, value)
	{
		buf_printf(out, "%s--%s=%s", blank, name,
			   json_string_value(value) ? json_string_value(value)
						    : "");
		blank = " ";
	}
	json_decref(map);
}

static bool says_why(const struct trial_record *trial)
{
	return trial->error &&
	       (trial->state == RUN_FAILED || trial->state == RUN_SUCCEEDED);
}

static void put_value(double value, char out[32])
{
	if (isnan(value))
		snprintf(out, 32, "-");
	else
		snprintf(out, 32, "%.6g", value);
}

void trials_text(const struct trial_list *trials,
		 const struct hyperparameter_spec *spec, struct buf *out)
{
	const struct trial_record *best = trials_best(trials, spec);

	buf_printf(out,
		   "\n   TRIAL  STATE       %12.24s      STEP     TIME  "
		   "HYPERPARAMETERS\n",
		   spec->metric_tag);
	for (size_t i = 0; i < trials->count; i++) {
		const struct trial_record *trial = &trials->items[i];
		int64_t end_ms =
			trial->end_time_ms ? trial->end_time_ms : time_now_ms();
		char value[32], step[32] = "-", time[32] = "-";

		put_value(trial->value, value);
		if (trial->step >= 0)
			snprintf(step, sizeof(step), "%" PRId64, trial->step);
		if (trial->start_time_ms)
			duration_format(
				(long)((end_ms - trial->start_time_ms) / 1000),
				time, sizeof(time));
		buf_printf(out, "%s %6d  %-10s  %12s %9s %8s  ",
			   trial == best ? "*" : " ", trial->number,
			   run_state_name(trial->state), value, step, time);
		trial_put_arguments(trial, out);
		if (trial->early)
			buf_puts(out, "  (stopped early)");
		else if (says_why(trial))
			buf_printf(out, "  (%s)", trial->error);
		buf_putc(out, '\n');
	}
	if (best)
		buf_printf(out,
			   "\n"
			   "  * the best of %zu: 'jobrun logs --trial %d JOB' "
			   "shows its output\n",
			   trials->count, best->number);
}

static json_t *time_json(int64_t time_ms)
{
	char text[40];

	if (!time_ms)
		return json_null();
	time_format(time_ms, text, sizeof(text));
	return json_string(text);
}

json_t *trials_json(const struct trial_list *trials)
{
	json_t *out = json_array();

	for (size_t i = 0; i < trials->count; i++) {
		const struct trial_record *trial = &trials->items[i];
		json_t *one = json_object();

		json_put_int(one, "number", trial->number);
		json_put_text(one, "state", run_state_name(trial->state));
		json_put(one, "hyperparameters", parameters(trial));
		json_put(one, "value",
			 isfinite(trial->value) ? json_real(trial->value)
						: json_null());
		json_put(one, "step",
			 trial->step >= 0 ? json_integer(trial->step)
					  : json_null());
		json_put(one, "stoppedEarly", json_boolean(trial->early));
		json_put(one, "startTime", time_json(trial->start_time_ms));
		json_put(one, "endTime", time_json(trial->end_time_ms));
		json_put(one, "exitCode",
			 trial->exit_code >= 0 ? json_integer(trial->exit_code)
					       : json_null());
		json_put_text(one, "error", trial->error);
		json_array_append_new(out, one);
	}
	return out;
}

void trial_describe(const struct trial_record *trial,
		    const struct hyperparameter_spec *spec, struct buf *out)
{
	char value[32];

	buf_printf(out, "trial %d %s", trial->number,
		   run_state_name(trial->state));
	if (trial->early)
		buf_puts(out, " early");
	put_value(trial->value, value);
	if (!isnan(trial->value))
		buf_printf(out, ": %s %s", spec->metric_tag, value);
	buf_puts(out, " with ");
	trial_put_arguments(trial, out);
	if (says_why(trial))
		buf_printf(out, ": %s", trial->error);
}
