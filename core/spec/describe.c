/* SPDX-License-Identifier: Apache-2.0 */
#include "core/spec/describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/units.h"
#include "core/job/source.h"
#include "core/spec/spec_container.h"
#include "core/spec/trial_space.h"

static json_t *tpu_json(const struct topology *all)
{
	char text[96];

	if (all->tpu_slices > 1) {
		snprintf(text, sizeof(text), "%u x %s", all->tpu_slices,
			 all->tpu_slice);
		return json_string(text);
	}
	if (all->tpu_kind != TPU_CPU)
		return json_string(all->tpu_slice);
	snprintf(text, sizeof(text), "%s as %u CPU devices per host",
		 all->tpu_slice, all->devices_per_host);
	return json_string(text);
}

json_t *describe_trials(const struct run_spec *spec)
{
	static const char *const goals[] = { "?", "maximize", "minimize" };
	const struct hyperparameter_spec *tuning = &spec->tuning;
	const struct parameter_spec *params = tuning->params.items;
	json_t *out = json_object();
	struct trial_space space;
	char text[160];
	size_t i;

	trial_space_init(&space, tuning, spec->job_id);
	json_put_int(out, "count", space.trials);
	json_put_int(out, "atATime", tuning->max_parallel_trials);
	if (space.points == UINT64_MAX)
		snprintf(text, sizeof(text), "random");
	else
		snprintf(text, sizeof(text), "%s of %" PRIu64 " points",
			 space.grid ? "grid" : "random", space.points);
	json_put_text(out, "search", text);
	snprintf(text, sizeof(text), "%s %.120s", goals[tuning->goal],
		 tuning->metric_tag);
	json_put_text(out, "goal", text);
	for (i = 0; i < tuning->params.count; i++) {
		char *key = mem_printf("--%s", params[i].parameter_name);
		char *values = trial_space_describe(&params[i]);

		json_put_text(out, key, values);
		free(values);
		free(key);
	}
	trial_space_done(&space);
	return out;
}

static json_t *data_json(const struct run_spec *spec)
{
	json_t *out = json_object();
	char *text;
	size_t i;

	for (i = 0; i < spec->data.count; i++) {
		text = spec_data_text(&spec->data.sets[i], &spec->topology);
		json_put_text(out, spec->data.sets[i].name, text);
		free(text);
	}
	return out;
}

static json_t *checkpoints_json(const struct job *job)
{
	const struct checkpoints *from = &job->jobrun.checkpoints;
	static const char *const resumes[] = { "the newest", "the best",
					       "none" };
	json_t *out = json_object();
	char text[200];

	json_put_text(out, "directory",
		      from->directory ? from->directory
				      : "a folder of the run");
	if (from->to) {
		json_put_text(out, "to", from->to);
		if (from->metric)
			snprintf(text, sizeof(text),
				 "the best %ld (%s %.100s) and the newest",
				 from->keep,
				 from->goal == CHECKPOINT_GOAL_MAXIMIZE
					 ? "largest"
					 : "smallest",
				 from->metric);
		else
			snprintf(text, sizeof(text), "the last %ld",
				 from->keep);
		json_put_text(out, "keep", text);
	}
	json_put_text(out, "resume", resumes[from->resume]);
	return out;
}

void describe_files(const struct job *job, const struct run_spec *spec,
		    json_t *out)
{
	if (spec->checkpoints.is_used)
		json_put(out, "checkpoints", checkpoints_json(job));
	if (spec->data.count)
		json_put(out, "data", data_json(spec));
}

static bool has_tasks_of(const struct run_spec *spec, const char *type)
{
	size_t i;

	for (i = 0; i < spec->topology.count; i++)
		if (!strcmp(task_type_name(spec->topology.tasks[i].type), type))
			return true;
	return false;
}

/* The word that Dockerfiles have for an image's own entry point. */
#define ENTRY_POINT "ENTRYPOINT"

static json_t *command_json(const struct strings *command, bool own_entry)
{
	json_t *out = json_texts(command->items, command->count);

	if (own_entry)
		json_array_insert_new(out, 0, json_string(ENTRY_POINT));
	return out;
}

static void describe_words(const struct run_spec *spec, json_t *out)
{
	const struct run_words *words = spec->container.words.items;
	size_t i;

	for (i = 1; i < spec->container.words.count; i++)
		if (has_tasks_of(spec, words[i].role)) {
			char key[32];

			snprintf(key, sizeof(key), "%sCommand", words[i].role);
			json_put(out, key,
				 command_json(&words[i].command,
					      words[i].own_entry));
		}
}

static void describe_container(const struct run_spec *spec, json_t *out)
{
	const struct run_container *box = &spec->container;
	json_t *value;
	size_t i;

	if (!box->runtime)
		return;
	value = json_object();
	json_put_text(value, "runtime", box->runtime);
	for (i = 0; i < box->images.count; i++)
		if (has_tasks_of(spec, box->images.items[i].name))
			json_put_text(value, box->images.items[i].name,
				      box->images.items[i].value);
	describe_words(spec, value);
	if (box->mounts.count)
		json_put(value, "mounts",
			 json_texts(box->mounts.items, box->mounts.count));
	if (box->options.count)
		json_put(value, "options",
			 json_texts(box->options.items, box->options.count));
	json_put(out, "container", value);
}

void describe_program(const struct run_spec *spec, json_t *out)
{
	const struct run_words *master = spec->container.words.items;
	bool own_entry = spec->container.words.count && master->own_entry;

	if (own_entry || spec->command.count)
		json_put(out, "command",
			 command_json(&spec->command, own_entry));
	if (spec->setup.count)
		json_put(out, "setup",
			 json_texts(spec->setup.items, spec->setup.count));
	if (spec->conda_env)
		json_put_text(out, "conda", spec->conda_env);
	describe_container(spec, out);
}

static json_t *preflight_json(const struct job *job)
{
	const struct preflight *from = &job->jobrun.preflight;
	json_t *out = json_object();

	if (from->devices)
		json_put(out, "devices", json_true());
	if (from->peers)
		json_put(out, "peers", json_true());
	json_put_text(out, "bandwidth", from->bandwidth);
	if (from->clock_skew_s)
		json_put(out, "clockSkew",
			 json_sprintf("%lds", from->clock_skew_s));
	json_put_text(out, "disk", from->disk);
	if (from->command.count)
		json_put(out, "command",
			 json_texts(from->command.items, from->command.count));
	return out;
}

json_t *describe_run(const struct job *job, const struct run_spec *spec)
{
	const struct strings *packages = &job->training_input.package_uris;
	json_t *out = json_object();
	char limit[32];

	describe_program(spec, out);
	if (job_has(job, "preflight"))
		json_put(out, "preflight", preflight_json(job));
	if (spec->before.what)
		json_put(out, "beforeEachStart",
			 json_texts(spec->before.command.items,
				    spec->before.command.count));
	if (spec->docker_image)
		json_put_text(out, "docker", spec->docker_image);
	if (job->jobrun.source)
		json_put(out, "source", source_json(job));
	if (spec->packages.count)
		json_put(out, "packages",
			 json_texts(packages->items, packages->count));
	if (spec->hosts.names.count)
		json_put(out, "hosts",
			 json_texts(spec->hosts.names.items,
				    spec->hosts.names.count));
	json_put(out, "tasks", topology_tasks_json(&spec->topology));
	if (spec->topology.tpu_slice)
		json_put(out, "tpu", tpu_json(&spec->topology));
	if (spec->env.count)
		json_put(out, "env", spec_env_json(spec));
	if (spec->secret_count)
		json_put(out, "secrets", spec_secrets_json(spec));
	describe_files(job, spec, out);
	if (spec->logs.to)
		json_put_text(out, "logs", job->jobrun.logs.to);
	if (spec->tuning.params.count)
		json_put(out, "trials", describe_trials(spec));
	if (spec->max_running_time_s) {
		duration_format(spec->max_running_time_s, limit, sizeof(limit));
		json_put_text(out, "maxRunningTime", limit);
	}
	return out;
}
