/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The specification of a run in spec.json.  The files in
 * tests/fuzz/corpus/spec/ with names ending in .json were written by the
 * version before the tables, each by a run with other features.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/spec/spec.h"
#include "core/spec/spec_container.h"

#define FOLDER "tests/fuzz/corpus/spec/"

static json_t *load(const char *path)
{
	struct error err;
	size_t len;
	char *text = file_read(path, 1 << 20, &len, &err);
	json_t *value = text ? json_read(text, len, path, &err) : NULL;

	if (!value)
		fail_msg("%s", err.text);
	free(text);
	return value;
}

static void older_files_are_read_and_written_as_they_were(void **state)
{
	glob_t found;

	(void)state;
	assert_int_equal(glob(FOLDER "*.json", 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= 11);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct arena *mem = arena_new();
		json_t *before = load(found.gl_pathv[i]), *after;
		struct run_spec spec;
		struct error err;

		if (spec_from_json(before, mem, &spec, &err) < 0)
			fail_msg("%s: %s", found.gl_pathv[i], err.text);
		after = spec_json(&spec);
		if (!json_equal(before, after))
			fail_msg("%s became %s", found.gl_pathv[i],
				 json_canonical(after));
		json_decref(after);
		json_decref(before);
		arena_free(mem);
	}
	globfree(&found);
}

static void what_is_absent_has_its_default(void **state)
{
	json_t *value = load(FOLDER "hosts-docker.json");
	struct arena *mem = arena_new();
	struct run_spec spec;
	struct error err;

	(void)state;
	json_object_del(value, "home");
	json_object_del(value, "output");
	json_object_del(value, "graceS");
	json_object_del(value, "hosts");
	json_object_set_new(value, "ofALaterVersion", json_true());
	assert_int_equal(spec_from_json(value, mem, &spec, &err), 0);
	assert_string_equal(spec.home, spec.folder);
	assert_int_equal(strncmp(spec.output, spec.folder, strlen(spec.folder)),
			 0);
	assert_int_equal(spec.grace_s, 10);
	assert_int_equal(spec.hosts.names.count, 0);
	assert_int_equal(spec.args_end, spec.command.count);
	assert_false(spec.checkpoints.is_used);
	json_decref(value);
	arena_free(mem);
}

/* Changes one member of a file, given by its path: "topology.tasks.0.port".
 * The value is JSON; NULL removes the member. */
static void change(json_t *value, const char *path, const char *json)
{
	char *parts = mem_strdup(path), *save = NULL, *next;
	char *part = strtok_r(parts, ".", &save);

	for (; (next = strtok_r(NULL, ".", &save)); part = next)
		value = json_is_array(value)
				? json_array_get(value, strtoul(part, NULL, 10))
				: json_object_get(value, part);
	if (!json)
		assert_int_equal(json_object_del(value, part), 0);
	else if (json_is_array(value))
		json_array_set_new(value, strtoul(part, NULL, 10),
				   json_loads(json, JSON_DECODE_ANY, NULL));
	else
		json_object_set_new(value, part,
				    json_loads(json, JSON_DECODE_ANY, NULL));
	free(parts);
}

static void what_is_wrong_is_named(void **state)
{
	static const struct {
		const char *file, *path, *json, *want;
	} rows[] = {
		{ "secrets", "jobId", NULL, "jobId is missing" },
		{ "secrets", "command", "[]", "command is missing" },
		{ "secrets", "topology", NULL, "topology is missing" },
		{ "secrets", "topology.tasks", "[]",
		  "topology.tasks is missing" },
		{ "secrets", "topology.tasks.0.host", "null",
		  "topology.tasks[0].host is missing" },
		{ "secrets", "topology.tasks.0.type", "\"boss\"",
		  "topology.tasks[0].type is of unknown type 'boss'" },
		{ "secrets", "topology.tasks.0.port", "4294967296",
		  "topology.tasks[0].port must be from 0 to 2147483647" },
		{ "secrets", "attempt", "-1",
		  "attempt must be from 0 to 2147483647" },
		{ "secrets", "env", "{\"A\": 1}", "env.A must be a string" },
		{ "secrets", "secrets.TOKEN", "[]",
		  "secrets.TOKEN must be an object" },
		{ "hosts-docker", "hosts.leaseS", "\"10\"",
		  "hosts.leaseS must be a whole number" },
		{ "hosts-docker", "dockerFlags.0", "{}",
		  "dockerFlags[0] must be a string" },
		{ "hosts-docker", "restart", "7", "restart must be an object" },
		{ "restart", "restart.rules", "{}",
		  "restart.rules must be a list" },
		{ "slurm-trials", "hyperparameters.params.0.type", "9",
		  "hyperparameters.params[0].type must be from 0 to 4" },
		{ "slurm-trials", "hyperparameters.params.0.min", "\"a\"",
		  "hyperparameters.params[0].min must be a number" },
		{ "data", "data.train.shuffle", "0",
		  "data.train.shuffle must be true or false" },
		{ "tpu-vm-xrt", "topology.tpu.slice", "null",
		  "topology.tpu.slice is missing" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *path = mem_printf(FOLDER "%s.json", rows[i].file);
		struct arena *mem = arena_new();
		struct error err = { 0 };
		struct run_spec spec;
		json_t *value = load(path);

		change(value, rows[i].path, rows[i].json);
		assert_int_equal(spec_from_json(value, mem, &spec, &err), -1);
		assert_string_equal(err.text, rows[i].want);
		json_decref(value);
		arena_free(mem);
		free(path);
	}
}

/* Trials insert their values after `argsEnd`, which a file may have wrong. */
static void words_of_images_are_bounded(void **state)
{
	static const char text[] =
		"{\"runtime\": \"auto\", \"words\": [{\"role\": \"master\", "
		"\"command\": [\"a\"], \"argsEnd\": 9}]}";
	struct arena *mem = arena_new();
	const struct run_words *words;
	struct error err = { 0 };
	struct run_spec spec;
	json_t *value = load(FOLDER "secrets.json");

	(void)state;
	json_object_set_new(value, "container", json_loads(text, 0, NULL));
	assert_int_equal(spec_from_json(value, mem, &spec, &err), 0);
	words = spec.container.words.items;
	assert_int_equal(spec.container.words.count, 1);
	assert_int_equal(words->args_end, 1);
	assert_ptr_equal(spec_command(&spec, 0), &words->command);
	json_decref(value);
	arena_free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(older_files_are_read_and_written_as_they_were),
		cmocka_unit_test(what_is_absent_has_its_default),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(words_of_images_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
