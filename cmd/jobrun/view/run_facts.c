/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jobrun/view/run_facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "core/job/revision.h"

json_t *run_facts_asked(const struct run_record *run)
{
	struct error ignored;
	json_t *settings = run->properties ? json_read(run->properties,
						       strlen(run->properties),
						       "store", &ignored)
					   : NULL;
	json_t *revision = revision_json(run->revision);
	json_t *out = json_object(), *source, *files;

	json_put_text(out, "provider", run->provider);
	json_put(out, "settings", settings ? settings : json_object());
	source = json_object_get(settings, "source");
	files = json_object_get(source, "files");
	if (files) {
		json_object_set(out, "files", files);
		json_object_del(source, "files");
	}
	if (source) {
		json_object_set(out, "source", source);
		json_object_del(settings, "source");
	}
	if (revision)
		json_put(out, "revision", revision);
	return out;
}

/* ---- time and money ---------------------------------------------------- */

static int64_t task_ms(const struct run_story *story,
		       const struct task_record *task)
{
	int64_t end_ms = task->end_time_ms ? task->end_time_ms : time_now_ms();

	if (!task->start_time_ms ||
	    (story->trial && task->trial != story->trial))
		return 0;
	return end_ms - task->start_time_ms;
}

int64_t run_facts_task_ms(const struct run_story *story)
{
	int64_t sum = 0;

	for (size_t i = 0; i < story->attempt_count; i++)
		for (size_t k = 0; k < story->tasks[i].count; k++)
			sum += task_ms(story, &story->tasks[i].items[k]);
	return sum;
}

/* Returns the price per hour of a machine or an accelerator; NaN if unknown. */
static double price_of(const struct price_list *prices, const char *machine,
		       const char *accelerator)
{
	double any = NAN;

	for (size_t i = 0; i < prices->price_count; i++) {
		const struct price *price = &prices->prices[i];
		const char *name =
			machine ? price->machine_type : price->accelerator_type;

		if (!name || strcmp(name, machine ? machine : accelerator) != 0)
			continue;
		if (!price->region)
			return price->per_hour;
		any = price->per_hour;
	}
	return any;
}

/* Returns the price per hour of a task of this type; NaN if unknown. */
static double task_price(const json_t *job, const char *type,
			 const struct price_list *prices)
{
	const char *role = !strcmp(type, "ps") ? "parameter_server" : type;
	const json_t *accelerator;
	char key[64];
	const char *machine;
	double price;

	snprintf(key, sizeof(key), "%s_type", role);
	machine = json_get_text(job, key, NULL);
	price = machine ? price_of(prices, machine, NULL) : NAN;
	snprintf(key, sizeof(key), "%s_config", role);
	accelerator = json_object_get(json_object_get(job, key),
				      "accelerator_config");
	machine = json_get_text(accelerator, "type", NULL);
	if (machine)
		price += price_of(prices, NULL, machine) *
			 (double)json_get_int(accelerator, "count", 1);
	return price;
}

static json_t *read_job(const struct run_story *story)
{
	const char *text = NULL;
	struct error ignored;

	for (size_t i = 0; i < story->part_count && !text; i++)
		if (story->parts[i].read)
			text = story->parts[i].metrics.spec->topology.job_text;
	return text ? json_read(text, strlen(text), "specification", &ignored)
		    : NULL;
}

bool run_facts_cost(const struct run_story *story,
		    const struct price_list *prices, double *out)
{
	json_t *job = prices ? read_job(story) : NULL;
	double sum = 0;

	if (!job)
		return false;
	for (size_t i = 0; i < story->attempt_count; i++)
		for (size_t k = 0; k < story->tasks[i].count; k++) {
			const struct task_record *task =
				&story->tasks[i].items[k];
			int64_t ms = task_ms(story, task);

			if (ms)
				sum += task_price(job, task->type, prices) *
				       (double)ms / 3600000;
		}
	json_decref(job);
	if (isnan(sum))
		return false;
	*out = sum;
	return true;
}

/* ---- all of it --------------------------------------------------------- */

static void put_duration(json_t *to, const char *key, int64_t from_ms,
			 int64_t to_ms)
{
	char text[32];

	if (!from_ms || !to_ms || to_ms < from_ms)
		return;
	duration_format((long)((to_ms - from_ms + 500) / 1000), text,
			sizeof(text));
	json_put_text(to, key, text);
}

static json_t *times(const struct run_story *story)
{
	const struct run_record *run = story->run;
	const struct trial_record *trial = run_story_trial(story, story->trial);
	json_t *out = json_object();
	int64_t task_time_ms = run_facts_task_ms(story);

	if (trial) {
		put_duration(out, "ran", trial->start_time_ms,
			     trial->end_time_ms);
	} else {
		put_duration(out, "queued", story->attempts[0].create_time_ms,
			     story->attempts[0].start_time_ms);
		put_duration(out, "ran", story->attempts[0].start_time_ms,
			     run->end_time_ms);
		json_put_int(out, "attempts", (long long)story->attempt_count);
	}
	if (task_time_ms)
		put_duration(out, "ofAllTasks", 1, 1 + task_time_ms);
	return out;
}

static json_t *machines(const struct run_story *story)
{
	const struct task_list *tasks = &story->tasks[story->attempt_count - 1];
	json_t *out = json_object();
	char name[64];

	for (size_t i = 0; i < tasks->count; i++) {
		const struct task_record *task = &tasks->items[i];

		if (task->trial && task->trial != story->trial)
			continue;
		snprintf(name, sizeof(name), "%s %d", task->type, task->index);
		json_put_text(out, name, task->host);
	}
	return out;
}

static json_t *number_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* Adds the best value over all tasks and attempts, and the last value of the
 * last attempt. */
static void add_metrics(const struct story_part *part, json_t *to)
{
	const struct metric_table *table = part->metrics.table;

	for (size_t i = 0; i < metric_table_count(table); i++) {
		const struct metric_info *info = metric_table_info(table, i);
		json_t *one = json_object_get(to, info->name);
		double last;

		if (!one) {
			one = json_object();
			json_put(to, info->name, one);
		}
		metric_table_total(table, i, &last, 1);
		json_object_set_new(one, "final", number_or_null(last));
		for (size_t k = 0; k < part->metrics.source_count; k++) {
			const struct metric_series *series =
				metric_table_series(table, i, k);
			const struct metric_point *best =
				series ? metric_best(info, series) : NULL;
			const json_t *had = json_object_get(one, "best");

			if (best &&
			    (!had ||
			     (info->goal == METRIC_LOWER
				      ? best->value < json_real_value(had)
				      : best->value > json_real_value(had))))
				json_object_set_new(
					one, "best",
					number_or_null(best->value));
		}
	}
}

json_t *run_facts(const struct run_story *story,
		  const struct price_list *prices)
{
	const struct trial_record *trial = run_story_trial(story, story->trial);
	json_t *out = run_facts_asked(story->run);
	json_t *outcome = json_object(), *metrics = json_object();
	struct error ignored;
	json_t *values;
	double cost;

	if (trial) {
		values = json_read(trial->parameters, strlen(trial->parameters),
				   "store", &ignored);
		json_put(json_object_get(out, "settings"), "hyperparameters",
			 values ? values : json_object());
	}
	json_put_text(outcome, "state",
		      run_state_name(trial ? trial->state : story->run->state));
	json_put_text(outcome, "error",
		      trial ? trial->error : story->run->error);
	json_put(out, "outcome", outcome);
	for (size_t i = 0; i < story->part_count; i++)
		if (story->parts[i].read)
			add_metrics(&story->parts[i], metrics);
	json_put(out, "metrics", metrics);
	json_put(out, "machines", machines(story));
	json_put(out, "time", times(story));
	if (run_facts_cost(story, prices, &cost))
		json_put(out, "cost", json_real(round(cost * 100) / 100));
	return out;
}
