/* SPDX-License-Identifier: Apache-2.0 */
/* The loader of job files as its callers see it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/job/traits.h"
#include "providers/registry.h"
#include "schema/rules/rules.h"
#include "schema/tables/tables.h"
#include "tests/support/known.h"

struct nap {
	struct message_head head;
	long length;
};

static const struct field nap_fields[] = {
	{ .name = "length",
	  .type = FIELD_INT,
	  .fallback = "3",
	  .offset = offsetof(struct nap, length) },
	{ .name = NULL },
};

static const struct message message_nap = {
	.name = "Nap",
	.size = sizeof(struct nap),
	.fields = nap_fields,
};

static struct schema_provider known[32];
static struct schema_options plain_options = { .providers = known };

/* Registers all providers, with one of the test's own after the default one. */
static void know_providers(void)
{
	size_t i, n = 0;

	for (i = 0; providers[i]; i++) {
		known[n++] = known_provider(providers[i]);
		if (!i)
			known[n++] = (struct schema_provider){
				.name = "bed-room",
				.block = &message_nap,
			};
	}
	plain_options.provider_count = n;
}

struct loaded {
	struct jobs jobs;
	struct problems found;
	struct buf text;
};

static void load_with(struct loaded *l, const struct schema_options *options,
		      const char *text)
{
	struct error err;

	memset(l, 0, sizeof(*l));
	assert_int_equal(schema_load_text("dir/a b.yaml", text, strlen(text),
					  options, &l->jobs, &l->found, &err),
			 0);
	problems_text(&l->found, 0, &l->text);
}

static void load(struct loaded *l, const char *text)
{
	load_with(l, &plain_options, text);
}

static void load_paths(struct loaded *l, char *const *paths, size_t count)
{
	struct error err;

	memset(l, 0, sizeof(*l));
	assert_int_equal(schema_load(paths, count, &plain_options, &l->jobs,
				     &l->found, &err),
			 0);
	problems_text(&l->found, 0, &l->text);
}

static void drop(struct loaded *l)
{
	jobs_done(&l->jobs);
	problems_done(&l->found);
	buf_done(&l->text);
}

/* Returns the only job of a file without problems. */
static const struct job *only(const struct loaded *l)
{
	assert_string_equal(buf_text(&l->text), "");
	assert_int_equal(l->jobs.count, 1);
	return l->jobs.items[0];
}

static void fields_are_filled(void **state)
{
	struct loaded l;
	const struct training_input *in;
	const struct job *job;

	(void)state;
	load(&l,
	     "trainingInput:\n"
	     "  scaleTier: CUSTOM\n"
	     "  workerCount: '8'\n"
	     "  workerType: n1-standard-4\n"
	     "  args: [--a, '']\n"
	     "  workerConfig: {acceleratorConfig: {type: TPU_V3, count: 32}}\n"
	     "  scheduling: {maxRunningTime: 10.2s}\n"
	     "jobrun:\n"
	     "  provider: local\n"
	     "  env: {A: x, B: ''}\n"
	     "  secrets: {S: {env: T}}\n");
	job = only(&l);
	in = &job->training_input;
	assert_int_equal(in->scale_tier, SCALE_TIER_CUSTOM);
	assert_int_equal(in->worker_count, 8);
	assert_int_equal(in->args.count, 2);
	assert_string_equal(in->args.items[1], "");
	assert_int_equal(in->worker_config.accelerator_config.count, 32);
	assert_string_equal(in->worker_config.accelerator_config.type,
			    "TPU_V3");
	assert_int_equal(in->scheduling.max_running_time_s, 11);
	assert_int_equal(job->jobrun.env.count, 2);
	assert_string_equal(job->jobrun.env.items[0].value, "x");
	assert_int_equal(job->jobrun.secrets.count, 1);
	assert_string_equal(
		((const struct secret *)job->jobrun.secrets.items)->name, "S");
	assert_true(message_has(&message_training_input, in, "workerCount"));
	assert_false(
		message_has(&message_training_input, in, "evaluatorCount"));
	assert_string_equal(job->file, "dir/a b.yaml");
	assert_string_equal(job->folder, "dir");
	drop(&l);
}

static void defaults_are_filled(void **state)
{
	struct loaded l;
	const struct nap *nap;
	const struct job *job;

	(void)state;
	load(&l, "trainingInput: {}\n");
	job = only(&l);
	assert_int_equal(job->training_input.scale_tier, SCALE_TIER_BASIC);
	assert_string_equal(job->jobrun.provider, "local");
	assert_int_equal(job->jobrun.grace_s, 10);
	assert_int_equal(job->jobrun.on_change, ON_CHANGE_RERUN);
	assert_null(job_block(job, "bed"));
	nap = job_block(job, "bed-room");
	assert_int_equal(nap->length, 3);
	drop(&l);
}

static void provider_blocks_are_read(void **state)
{
	struct loaded l;
	const struct nap *nap;

	(void)state;
	load(&l, "trainingInput: {}\n"
		 "jobrun: {provider: bed-room, bed-room: {length: 5}}\n");
	nap = job_block(only(&l), "bed-room");
	assert_int_equal(nap->length, 5);
	assert_string_equal(only(&l)->jobrun.provider, "bed-room");
	drop(&l);
	load(&l, "trainingInput: {}\n"
		 "jobrun: {bedroom: {length: 5}}\n");
	assert_non_null(strstr(l.text.data, "did you mean \"bed-room\"?"));
	drop(&l);
	load(&l, "trainingInput: {}\n"
		 "jobrun: {provider: lokal, bed-room: {lenght: 5}}\n");
	assert_int_equal(l.found.count, 2);
	assert_string_equal(l.found.items[0].path, "jobrun.provider");
	assert_string_equal(l.found.items[1].path, "jobrun.bed-room.lenght");
	drop(&l);
}

static void first_provider_is_the_default(void **state)
{
	const struct schema_provider one = { .name = "bed-room" };
	const struct schema_options options = { .providers = &one,
						.provider_count = 1 };
	struct loaded l;
	json_t *all;

	(void)state;
	load_with(&l, &options, "trainingInput: {}\n");
	assert_string_equal(only(&l)->jobrun.provider, "bed-room");
	all = job_json(only(&l), MESSAGE_DEFAULTS);
	assert_string_equal(
		json_get_text(json_object_get(all, "jobrun"), "provider", NULL),
		"bed-room");
	json_decref(all);
	drop(&l);
}

/* A hidden provider can be used by those who know it. */
static void hidden_provider_is_not_offered(void **state)
{
	const struct schema_provider two[] = {
		{ .name = "bed-room" },
		{ .name = "cellar",
		  .block = &message_nap,
		  .traits = TRAIT_HIDDEN },
	};
	const struct schema_options options = { .providers = two,
						.provider_count = 2 };
	struct loaded l;

	(void)state;
	load_with(&l, &options,
		  "trainingInput: {}\n"
		  "jobrun: {provider: cellar, cellar: {length: 5}}\n");
	assert_string_equal(only(&l)->jobrun.provider, "cellar");
	drop(&l);
	load_with(&l, &options,
		  "trainingInput: {}\n"
		  "jobrun: {provider: celar, cellat: {}}\n");
	assert_int_equal(l.found.count, 2);
	assert_null(strstr(l.text.data, "cellar"));
	drop(&l);
}

static void option_provider_wins(void **state)
{
	struct schema_options options = plain_options;
	struct error err = { 0 };
	struct loaded l;

	(void)state;
	options.provider = "bed-room";
	load_with(&l, &options,
		  "trainingInput: {}\n"
		  "jobrun: {provider: local}\n");
	assert_string_equal(only(&l)->jobrun.provider, "bed-room");
	drop(&l);
	options.provider = "moon";
	assert_int_equal(
		schema_load(NULL, 0, &options, &l.jobs, &l.found, &err), -1);
	assert_int_equal(err.code, ERROR_USAGE);
}

static void strict_makes_errors(void **state)
{
	struct schema_options options = plain_options;
	struct loaded l;

	(void)state;
	options.strict = true;
	load_with(&l, &options, "trainingInput: {runtimeVersion: 2.10}\n");
	assert_int_equal(l.jobs.count, 0);
	assert_int_equal(problems_errors(&l.found), 1);
	drop(&l);
}

static void job_ids_are_made(void **state)
{
	struct schema_options options = plain_options;
	struct loaded l;

	(void)state;
	load(&l, "trainingInput: {}\n");
	assert_string_equal(only(&l)->job_id, "a_b");
	drop(&l);
	load(&l, "trainingInput: {}\n---\ntrainingInput: {}\n---\n"
		 "jobId: c\ntrainingInput: {}\n");
	assert_int_equal(problems_errors(&l.found), 2);
	drop(&l);
	options.job_id = "given";
	load_with(&l, &options,
		  "trainingInput: {}\n---\n"
		  "jobId: c\ntrainingInput: {}\n");
	assert_string_equal(l.jobs.items[0]->job_id, "given");
	assert_string_equal(l.jobs.items[1]->job_id, "c");
	drop(&l);
}

static void bad_document_leaves_the_others(void **state)
{
	struct loaded l;

	(void)state;
	load(&l, "jobId: a\ntrainingInput: {}\n---\n"
		 "jobId: b\ntrainingInput: {}\ntrainingInput: {}\n---\n"
		 "jobId: c\ntrainingInput: {}\n--- [");
	assert_int_equal(l.jobs.count, 2);
	assert_string_equal(l.jobs.items[1]->job_id, "c");
	assert_int_equal(problems_errors(&l.found), 2);
	drop(&l);
}

static void merge_keys_have_precedence(void **state)
{
	struct loaded l;
	const struct training_input *in;

	(void)state;
	load(&l, "x-a: &a {masterType: one, args: [one], pythonModule: one}\n"
		 "x-b: &b {args: [two], workerType: two}\n"
		 "trainingInput:\n"
		 "  <<: [*a, *b]\n"
		 "  python_module: mine\n"
		 "  scaleTier: CUSTOM\n"
		 "  workerCount: 1\n"
		 "jobrun: {provider: local}\n");
	in = &only(&l)->training_input;
	assert_string_equal(in->master_type, "one");
	assert_string_equal(in->args.items[0], "one");
	assert_string_equal(in->worker_type, "two");
	assert_string_equal(in->python_module, "mine");
	drop(&l);
}

static void problems_as_json(void **state)
{
	struct buf out = { 0 };
	struct error err;
	struct loaded l;
	json_t *root, *one;

	(void)state;
	load(&l, "trainingInput:\n  args: [a, [b]]\n");
	problems_json(&l.found, &out);
	root = json_read(out.data, out.len, "problems", &err);
	assert_non_null(root);
	assert_int_equal(json_get_int(root, "formatVersion", 0), 1);
	one = json_array_get(json_object_get(root, "problems"), 0);
	assert_string_equal(json_get_text(one, "file", ""), "dir/a b.yaml");
	assert_int_equal(json_get_int(one, "line", 0), 2);
	assert_int_equal(json_get_int(one, "column", 0), 13);
	assert_string_equal(json_get_text(one, "severity", ""), "error");
	assert_string_equal(json_get_text(one, "path", ""),
			    "trainingInput.args[1]");
	assert_string_equal(json_get_text(one, "rule", ""), "type");
	json_decref(root);
	buf_done(&out);
	drop(&l);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char *path = path_join(folder, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	free(path);
}

static void directories_are_read(void **state)
{
	char folder[] = "/tmp/test_schema.XXXXXX";
	char *below, *named;
	char *paths[2];
	struct error err;
	struct loaded l;

	(void)state;
	assert_non_null(mkdtemp(folder));
	below = path_join(folder, "sub");
	assert_int_equal(mkdir(below, 0700), 0);
	write_file(folder, "b.yaml", "trainingInput: {}\n");
	write_file(folder, "a.yml", "trainingInput: {}\n");
	write_file(folder, "c.json", "{");
	write_file(folder, ".hidden.yaml", "{");
	write_file(folder, "other.yaml", "{{ not: [yaml");
	write_file(below, "d.yaml", "trainingInput: {}\n");
	paths[0] = folder;
	load_paths(&l, paths, 1);
	assert_int_equal(l.jobs.count, 3);
	/* Jobs without an id are named after folder and file. */
	assert_true(text_starts(l.jobs.items[0]->job_id, "test_schema_"));
	assert_true(text_ends(l.jobs.items[0]->job_id, "_a"));
	assert_string_equal(l.jobs.items[2]->job_id, "sub_d");
	assert_int_equal(l.found.count, 1);
	assert_int_equal(l.found.items[0].severity, SEVERITY_NOTE);
	drop(&l);

	/* A file that is named must hold a job, and every id must be unique. */
	named = path_join(folder, "other.yaml");
	write_file(folder, "a.yml", "jobId: a\ntrainingInput: {}\n");
	write_file(folder, "b.yaml", "jobId: a\ntrainingInput: {}\n");
	paths[0] = named;
	paths[1] = folder;
	load_paths(&l, paths, 2);
	assert_int_equal(problems_errors(&l.found), 2);
	assert_string_equal(l.found.items[1].rule, "duplicate-job");
	drop(&l);

	free(named);
	assert_int_equal(folder_remove(folder, &err), 0);
	paths[0] = folder;
	load_paths(&l, paths, 1);
	assert_int_equal(problems_errors(&l.found), 1);
	assert_int_equal(l.found.items[0].at.line, 0);
	drop(&l);
	free(below);
}

/* A line that names a large file dozens of times must not use up the memory. */
static void extended_files_have_a_limit(void **state)
{
	char folder[] = "/tmp/test_schema.XXXXXX";
	struct buf text = { 0 };
	struct error err;
	struct loaded l;
	char *path;

	(void)state;
	assert_non_null(mkdtemp(folder));
	buf_puts(&text, "trainingInput:\n  args:\n");
	for (int i = 0; i < 40000; i++)
		buf_puts(&text, "  - a\n");
	write_file(folder, "base.yaml", buf_text(&text));
	path = path_join(folder, "job.yaml");
	write_file(folder, "job.yaml",
		   "jobrun: {extends: [base.yaml, base.yaml]}\n");
	load_paths(&l, &path, 1);
	assert_int_equal(only(&l)->training_input.args.count, 40000);
	drop(&l);
	write_file(folder, "job.yaml",
		   "jobrun: {extends: [base.yaml, base.yaml, base.yaml]}\n");
	load_paths(&l, &path, 1);
	assert_int_equal(l.jobs.count, 0);
	assert_non_null(strstr(buf_text(&l.text),
			       "the files that are extended here hold more "
			       "than 100000 values"));
	drop(&l);
	free(path);
	buf_done(&text);
	assert_int_equal(folder_remove(folder, &err), 0);
}

static void check_golden(const char *folder, const char *name)
{
	char *path = path_join(folder, name), *want = NULL;
	struct loaded l;
	struct error err;
	char *expected;
	size_t len, i;

	expected = mem_printf("%.*s.err", (int)strlen(path) - 5, path);
	load_paths(&l, &path, 1);
	/* To update the expected files, write them and examine the difference
	 * with git. */
	if (getenv("UPDATE_GOLDEN") && l.found.count)
		assert_int_equal(
			file_write(expected, l.text.data, l.text.len, &err), 0);
	want = access(expected, F_OK) == 0
		       ? file_read(expected, 1 << 20, &len, &err)
		       : mem_strdup("");
	if (!want || strcmp(want, buf_text(&l.text)) != 0)
		fail_msg("%s gives:\n%s", path, buf_text(&l.text));
	for (i = 0; i < l.found.count; i++)
		if (!rule_find(l.found.items[i].rule))
			fail_msg("%s: explain knows no '%s'", path,
				 l.found.items[i].rule);
	if (text_ends(folder, "/valid"))
		assert_int_equal(problems_errors(&l.found), 0);
	else
		assert_true(problems_errors(&l.found) > 0);
	free(want);
	free(expected);
	free(path);
	drop(&l);
}

static void golden_files(void **state)
{
	static const char *const folders[] = { "tests/cli/validate/valid",
					       "tests/cli/validate/invalid" };
	struct dirent *entry;
	size_t i, n = 0;
	DIR *dir;

	(void)state;
	for (i = 0; i < COUNT(folders); i++) {
		dir = opendir(folders[i]);
		assert_non_null(dir);
		while ((entry = readdir(dir))) {
			if (!text_ends(entry->d_name, ".yaml"))
				continue;
			check_golden(folders[i], entry->d_name);
			n++;
		}
		closedir(dir);
	}
	assert_true(n > 50);
}

/* Checks that all rows have a description, and that none comes twice. */
static void check_table(const struct message *message)
{
	const struct field *field;
	size_t len;

	assert_non_null(message->doc);
	assert_true(message_field_count(message) <= 64);
	for (field = message->fields; field->name; field++) {
		assert_non_null(field->doc);
		len = strlen(field->doc);
		assert_true(len > 10 && field->doc[len - 1] == '.');
		assert_ptr_equal(message_field(message, field->name), field);
		if (field->type == FIELD_ENUM)
			assert_non_null(field->values);
		if (field->message)
			check_table(field->message);
	}
}

static void tables_are_documented(void **state)
{
	size_t i;

	(void)state;
	check_table(&message_job);
	for (i = 0; providers[i]; i++)
		if (providers[i]->block)
			check_table(providers[i]->block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_filled),
		cmocka_unit_test(defaults_are_filled),
		cmocka_unit_test(provider_blocks_are_read),
		cmocka_unit_test(first_provider_is_the_default),
		cmocka_unit_test(hidden_provider_is_not_offered),
		cmocka_unit_test(option_provider_wins),
		cmocka_unit_test(strict_makes_errors),
		cmocka_unit_test(job_ids_are_made),
		cmocka_unit_test(bad_document_leaves_the_others),
		cmocka_unit_test(merge_keys_have_precedence),
		cmocka_unit_test(problems_as_json),
		cmocka_unit_test(directories_are_read),
		cmocka_unit_test(extended_files_have_a_limit),
		cmocka_unit_test(golden_files),
		cmocka_unit_test(tables_are_documented),
	};

	know_providers();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
