/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the plan as JSON.  Keys and lists have a fixed order and no time is
 * written, so plans of the same state are the same bytes. */
#include "core/base/json.h"
#include "core/provider/placeholder.h"
#include "core/job/revision.h"
#include "core/plan/plan.h"

#define FORMAT_VERSION 1

/* Secrets and sealed values are written as placeholders only. */
static void put_value(json_t *object, const char *key, const json_t *value)
{
	json_put(object, key, value ? placeholder_show(value) : json_null());
}

static json_t *changes_json(const struct action *action)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < action->change_count; i++) {
		const struct change *change = &action->changes[i];
		json_t *one = json_object();

		json_put_text(one, "path", change->path);
		put_value(one, "before", change->before);
		put_value(one, "after", change->after);
		if (change_cause_name(change->cause))
			json_put_text(one, "cause",
				      change_cause_name(change->cause));
		if (placeholder_holds(change->after, PLACEHOLDER_OUTPUT))
			json_put(one, "unknown", json_true());
		else if (placeholder_type(change->after) ||
			 placeholder_type(change->before))
			json_put(one, "sensitive", json_true());
		json_array_append_new(array, one);
	}
	return array;
}

static json_t *files_json(const struct file_changes *files)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < files->count; i++) {
		json_t *one = json_object();

		json_put_text(one, "path", files->items[i].path);
		json_put_text(one, "change",
			      file_change_name(files->items[i].type));
		json_array_append_new(array, one);
	}
	return array;
}

static const char *const drifts[] = {
	[DRIFT_UNKNOWN] = "unknown",
	[DRIFT_CHANGED] = "changed",
	[DRIFT_GONE] = "gone",
};

static json_t *action_json(const struct action *action)
{
	const struct resource *it = action_resource(action);
	bool calls = action->want && action->type != ACTION_NOOP;
	json_t *object = json_object();
	json_t *needs = json_array();
	size_t i;

	for (i = 0; i < action->need_count; i++)
		json_array_append_new(needs, json_text(action->needs[i]->id));
	json_put_text(object, "id", action->id);
	json_put_text(object, "action", action_type_name(action->type));
	json_put_text(object, "kind", it->kind->name);
	json_put_text(object, "name", it->name);
	json_put(object, "dependsOn", needs);
	json_put_text(object, "reason", action->reason);
	if (action->drift && action->type != ACTION_NOOP)
		json_put_text(object, "drift", drifts[action->drift]);
	if (action->unseen || action->unread_secret)
		json_put(object, "notLookedAt", json_true());
	json_put(object, "changes", changes_json(action));
	if (action->files.count)
		json_put(object, "files", files_json(&action->files));
	put_value(object, "request", calls ? action->want->request : NULL);
	return object;
}

static json_t *fields_json(const struct plan_job *job)
{
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < job->field_count; i++)
		put_value(object, job->fields[i].path, job->fields[i].after);
	return object;
}

static json_t *plan_job_json(const struct plan_job *job)
{
	const struct resources *desired = job->desired;
	json_t *object = json_object();
	json_t *actions = json_array();
	struct buf warning = { 0 };
	size_t i;

	for (i = 0; i < job->action_count; i++)
		json_array_append_new(actions, action_json(job->actions[i]));
	json_put_text(object, "jobId", job->job->job_id);
	json_put_text(object, "provider", job->provider->name);
	json_put_text(object, "digest", job->job->digest.hex);
	if (job->job->digest2.hex[0])
		json_put_text(object, "digest2", job->job->digest2.hex);
	json_put(object, "actions", actions);
	json_put(object, "missing",
		 json_texts(desired->missing, desired->missing_count));
	if (desired->unknown)
		json_put_text(object, "unknown", desired->unknown);
	json_put(object, "notes",
		 json_texts(desired->notes, desired->note_count));
	json_put(object, "fields", fields_json(job));
	if (job->estimate)
		json_put(object, "estimate", estimate_json(job->estimate));
	if (job->job->source_digest.hex[0])
		json_put(object, plan_job_ships(job) ? "ships" : "reads",
			 source_listing(job->job));
	if (job->job->revision)
		json_put(object, "revision", revision_json(job->job->revision));
	plan_job_warning(job, &warning);
	if (warning.len) {
		const char *text = warning.data;

		json_put(object, "warnings", json_texts(&text, 1));
	}
	buf_done(&warning);
	return object;
}

static json_t *summary_json(const struct plan *plan)
{
	static const enum action_type order[] = {
		ACTION_CREATE, ACTION_UPDATE, ACTION_REPLACE,
		ACTION_DELETE, ACTION_RUN,    ACTION_NOOP,
	};
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < COUNT(order); i++)
		json_put_int(object, action_type_name(order[i]),
			     (long long)plan_total(plan, order[i]));
	return object;
}

static json_t *targets_json(const struct plan *plan)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < plan_target_count(plan); i++)
		json_array_append_new(array,
				      json_text(plan_target_at(plan, i)));
	return array;
}

json_t *plan_json(const struct plan *plan)
{
	json_t *object = json_object();
	json_t *jobs = json_array();
	size_t i;

	for (i = 0; i < plan_job_count(plan); i++)
		json_array_append_new(jobs,
				      plan_job_json(plan_job_at(plan, i)));
	json_put_int(object, "formatVersion", FORMAT_VERSION);
	json_put(object, "jobs", jobs);
	json_put(object, "summary", summary_json(plan));
	if (plan_estimate(plan))
		json_put(object, "estimate",
			 estimate_total_json(plan_estimate(plan)));
	if (plan_target_count(plan))
		json_put(object, "targets", targets_json(plan));
	return object;
}
