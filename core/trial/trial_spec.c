/* SPDX-License-Identifier: Apache-2.0 */
#include "core/trial/trial_spec.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/spec/spec_container.h"
#include "core/spec/trial_space.h"

#define VALUES_MAX ((size_t)64 << 20)

/* Returns the command of a trial: the program's arguments, the hyperparameters,
 * and --job-dir with a folder for each trial, as the service did. */
static struct strings with_values(const struct run_spec *spec,
				  const struct strings *old, size_t args_end,
				  const char *const *values, struct arena *mem)
{
	const struct hyperparameter_spec *tuning = &spec->tuning;
	const struct parameter_spec *params = tuning->params.items;
	size_t count = old->count + tuning->params.count, n = 0;
	const char **items = arena_alloc(mem, count * sizeof(*items));

	for (size_t i = 0; i < args_end; i++)
		items[n++] = old->items[i];
	for (size_t i = 0; i < tuning->params.count; i++)
		items[n++] = arena_printf(mem, "--%s=%s",
					  params[i].parameter_name, values[i]);
	for (size_t i = args_end; i < old->count; i++)
		items[n++] = old->items[i];
	if (args_end < old->count)
		items[n - 1] = arena_printf(mem, "%s/%s", items[n - 1],
					    spec->topology.trial_id);
	return (struct strings){ .count = n, .items = items };
}

static void set_commands(struct run_spec *spec, const char *const *values,
			 struct arena *mem)
{
	struct messages *all = &spec->container.words;
	const struct run_words *old = all->items;
	struct run_words *words = arena_alloc(mem, all->count * sizeof(*words));

	spec->command =
		with_values(spec, &spec->command, spec->args_end, values, mem);
	for (size_t i = 0; i < all->count; i++) {
		words[i] = old[i];
		words[i].command = with_values(spec, &old[i].command,
					       old[i].args_end, values, mem);
	}
	all->items = words;
}

void trial_spec_make(const struct run_spec *run, int number,
		     const char *const *values, const char *folder,
		     const char *metric_file, struct arena *mem,
		     struct run_spec *out)
{
	size_t size = run->topology.count * sizeof(*run->topology.tasks);

	*out = *run;
	out->folder = arena_strdup(mem, folder);
	out->output = arena_printf(mem, "%s/output", folder);
	out->topology.tasks = arena_alloc(mem, size);
	memcpy(out->topology.tasks, run->topology.tasks, size);
	out->topology.trial_id = arena_printf(mem, "%d", number);
	out->topology.metric_file = arena_strdup(mem, metric_file);
	set_commands(out, values, mem);
}

static json_t *values_json(const struct hyperparameter_spec *tuning,
			   const char *const *values)
{
	const struct parameter_spec *params = tuning->params.items;
	json_t *map = json_object();

	for (size_t i = 0; i < tuning->params.count; i++)
		json_put_text(map, params[i].parameter_name, values[i]);
	return map;
}

const char *trial_parameters(const struct hyperparameter_spec *tuning,
			     const char *const *values, struct arena *mem)
{
	json_t *map = values_json(tuning, values);
	char *text = json_dumps(map, JSON_COMPACT);
	const char *out = arena_strdup(mem, text);

	free(text);
	json_decref(map);
	return out;
}

long trial_count(const struct run_spec *run)
{
	struct trial_space space;

	if (!run->tuning.params.count)
		return 0;
	trial_space_init(&space, &run->tuning, run->job_id);
	trial_space_done(&space);
	return space.trials;
}

json_t *trial_values_json(const struct run_spec *run)
{
	struct arena *mem = arena_new();
	json_t *out = json_array();
	struct trial_space space;

	trial_space_init(&space, &run->tuning, run->job_id);
	for (long i = 0; i < space.trials; i++)
		json_array_append_new(
			out, values_json(&run->tuning,
					 trial_space_next(&space, mem)));
	trial_space_done(&space);
	arena_free(mem);
	return out;
}

static int take_values(const json_t *map, const struct run_spec *run,
		       struct arena *mem, const char ***out)
{
	const struct parameter_spec *params = run->tuning.params.items;
	size_t count = run->tuning.params.count;
	const char **values = arena_alloc(mem, count * sizeof(*values));

	for (size_t i = 0; i < count; i++) {
		const char *text =
			json_get_text(map, params[i].parameter_name, NULL);

		if (!text)
			return -1;
		values[i] = arena_strdup(mem, text);
	}
	*out = values;
	return 0;
}

int trial_values_read(const char *folder, const struct run_spec *run,
		      int number, struct arena *mem, const char ***out,
		      struct error *err)
{
	char *path = path_join(folder, TRIAL_VALUES_FILE);
	size_t len;
	char *text = file_read(path, VALUES_MAX, &len, err);
	json_t *all = text ? json_read(text, len, path, err) : NULL;
	int ret = all ? 0 : -1;

	if (all && take_values(json_array_get(all, (size_t)number - 1), run,
			       mem, out) < 0)
		ret = error_set(err, ERROR_FAILED,
				"no values of trial %d in '%s'", number, path);
	json_decref(all);
	free(text);
	free(path);
	return ret;
}
