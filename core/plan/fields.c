/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/fields.h"

#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/plan/diff.h"

/* The fields whose property has another name, or is a list with other items,
 * too. */
static const struct {
	const char *field, *property;
} others[] = {
	{ "jobrun.source", "source.directory" },
	{ "jobrun.docker.image", "docker" },
	{ "jobrun.conda.env", "conda" },
	{ "jobrun.command", "command" },
	{ "jobrun.logs.to", "logs" },
	{ "trainingInput.pythonModule", "command" },
	{ "trainingInput.args", "command" },
	{ "trainingInput.packageUris", "packages" },
	{ "trainingInput.workerCount", "tasks.worker" },
	{ "trainingInput.parameterServerCount", "tasks.ps" },
	{ "trainingInput.evaluatorCount", "tasks.evaluator" },
};

/* The fields that every rendering shows in the heading of the job. */
static const char *const heads[] = { "jobId", "jobrun.provider" };

/* Leaves the group out of the path: "pools.node.image" gives "image". */
static const char *without_pool(const char *path)
{
	const char *dot =
		strncmp(path, "pools.", 6) ? NULL : strchr(path + 6, '.');

	return dot ? dot + 1 : path;
}

/* Whether the list begins or ends with the words. */
static bool holds_words(const json_t *list, const json_t *words)
{
	size_t n = json_array_size(list), m = json_array_size(words), i;
	bool first = m && m <= n, last = first;

	for (i = 0; i < m && (first || last); i++) {
		const json_t *word = json_array_get(words, i);

		first = first && json_equal(json_array_get(list, i), word);
		last = last &&
		       json_equal(json_array_get(list, n - m + i), word);
	}
	return first || last;
}

static bool holds(const json_t *value, const json_t *field)
{
	size_t i;

	if (json_equal(value, field))
		return true;
	if (!json_is_array(value))
		return false;
	if (json_is_array(field))
		return holds_words(value, field);
	for (i = 0; i < json_array_size(value); i++)
		if (json_equal(json_array_get(value, i), field))
			return true;
	return false;
}

/* Adds the values at each path of the properties, of which a file can have very
 * many. */
static void add_shown(json_t *shown, const json_t *properties,
		      struct arena *mem)
{
	struct diff all;
	size_t i;

	diff_json(NULL, properties, mem, &all);
	for (i = 0; i < all.count; i++) {
		const char *path = without_pool(all.items[i].path);
		json_t *values = json_object_get(shown, path);

		if (!values) {
			values = json_array();
			json_put(shown, path, values);
		}
		json_array_append(values, all.items[i].after);
	}
}

static bool is_at(const json_t *shown, const char *path, const json_t *field)
{
	const json_t *values = json_object_get(shown, path);
	size_t i;

	for (i = 0; i < json_array_size(values); i++)
		if (holds(json_array_get(values, i), field))
			return true;
	return false;
}

static bool is_shown(const struct change *field, const json_t *shown)
{
	const char *tail = field->path, *dot;
	size_t i;

	for (i = 0; i < COUNT(heads); i++)
		if (!strcmp(field->path, heads[i]))
			return true;
	for (i = 0; i < COUNT(others); i++)
		if (!strcmp(field->path, others[i].field) &&
		    is_at(shown, others[i].property, field->after))
			return true;
	for (; !is_at(shown, tail, field->after); tail = dot + 1) {
		dot = strchr(tail, '.');
		if (!dot)
			return false;
	}
	return true;
}

void fields_find(struct plan_job *job, struct arena *mem, json_t *keep)
{
	const struct resources *desired = job->desired;
	json_t *all, *shown;
	struct diff fields;
	size_t i;

	if (!job->job->message) /* from no file */
		return;
	all = job_json(job->job, 0);
	json_array_append_new(keep, all);
	shown = json_object();
	for (i = 0; i < desired->count; i++)
		add_shown(shown, desired->items[i]->properties, mem);
	diff_json(NULL, all, mem, &fields);
	for (i = 0; i < fields.count; i++)
		if (!is_shown(&fields.items[i], shown))
			fields.items[job->field_count++] = fields.items[i];
	job->fields = fields.items;
	json_decref(shown);
}
