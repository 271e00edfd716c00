/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/describe/json_schema_values.h"

#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"

static void add(json_t *names, const char *name)
{
	json_array_append_new(names, json_text(name));
}

static json_t *machine_types(const struct catalogue *all)
{
	json_t *names = json_array();
	size_t i, k;

	for (i = 0; i < all->family_count; i++)
		for (k = 0; k < all->families[i].machine_count; k++)
			add(names, all->families[i].machines[k].name);
	return names;
}

static json_t *accelerators(const struct catalogue *all)
{
	json_t *names = json_array();
	size_t i;

	for (i = 0; i < all->accelerator_count; i++)
		add(names, all->accelerators[i].type);
	for (i = 0; i < all->tpu_count; i++)
		add(names, all->tpus[i].type);
	return names;
}

static json_t *regions(const struct catalogue *all)
{
	json_t *names = json_array();
	size_t i, k;

	for (i = 0; i < all->region_group_count; i++)
		for (k = 0; k < all->region_groups[i].region_count; k++)
			add(names, all->region_groups[i].regions[k].name);
	return names;
}

static json_t *zones(const struct catalogue *all)
{
	json_t *names = json_array();
	const char *letter;
	size_t i, k;

	for (i = 0; i < all->region_group_count; i++)
		for (k = 0; k < all->region_groups[i].region_count; k++) {
			const struct region *one =
				&all->region_groups[i].regions[k];

			for (letter = one->zones; *letter; letter++)
				json_array_append_new(
					names, json_sprintf("%s-%c", one->name,
							    *letter));
		}
	return names;
}

static json_t *runtimes(const struct catalogue *all)
{
	json_t *names = json_array();
	size_t i;

	for (i = 0; i < all->runtime_count; i++)
		add(names, all->runtimes[i].version);
	return names;
}

static json_t *pythons(const struct catalogue *all)
{
	json_t *names = json_array();
	size_t i, k;

	for (i = all->runtime_count; i > 0; i--)
		for (k = 0; k < all->runtimes[i - 1].python_count; k++)
			add(names, all->runtimes[i - 1].pythons[k]);
	return names;
}

/* The fields whose known values are only examples: they depend on the date of
 * the catalogue, and other values are taken with a warning. */
static const struct {
	const char *message, *field;
	json_t *(*names)(const struct catalogue *all);
} offered[] = {
	{ "TrainingInput", "masterType", machine_types },
	{ "TrainingInput", "workerType", machine_types },
	{ "TrainingInput", "parameterServerType", machine_types },
	{ "TrainingInput", "evaluatorType", machine_types },
	{ "TrainingInput", "region", regions },
	{ "TrainingInput", "runtimeVersion", runtimes },
	{ "TrainingInput", "pythonVersion", pythons },
	{ "ReplicaConfig", "tpuTfVersion", runtimes },
	{ "AcceleratorConfig", "type", accelerators },
	{ "Jobrun", "zone", zones },
	{ "TpuNodeImage", "zone", zones },
};

/* Says what a number must be, or gives the example of another form. */
static const char *pattern_message(const json_t *property)
{
	const json_t *example =
		json_array_get(json_object_get(property, "examples"), 0);
	const char *type = json_string_value(
		json_array_get(json_object_get(property, "type"), 0));

	if (type && !strcmp(type, "integer"))
		return "must be a whole number";
	if (type && !strcmp(type, "number"))
		return "must be a number";
	return json_is_string(example) ? json_string_value(example) : NULL;
}

static void put_message(json_t *property)
{
	const char *text;

	if (!json_object_get(property, "pattern"))
		return;
	text = pattern_message(property);
	if (!text)
		return;
	if (text_starts(text, "must be"))
		json_put_text(property, "patternErrorMessage", text);
	else
		json_put(property, "patternErrorMessage",
			 json_sprintf("must have a form like %s", text));
}

void json_schema_values(json_t *schema, const struct catalogue *all)
{
	json_t *messages = json_object_get(schema, "$defs");
	json_t *message, *property;
	const char *name, *key;
	size_t i;

	for (i = 0; i < sizeof(offered) / sizeof(*offered); i++) {
		message = json_object_get(messages, offered[i].message);
		property =
			json_object_get(json_object_get(message, "properties"),
					offered[i].field);
		if (property)
			json_put(property, "examples", offered[i].names(all));
	}
	json_object_foreach(messages, name, message)
		json_object_foreach(json_object_get(message, "properties"), key,
				    property) put_message(property);
}
