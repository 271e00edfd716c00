/* SPDX-License-Identifier: Apache-2.0 */
/* The table of rules, and the checks of the form of strings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/job/check.h"
#include "schema/rules/rules.h"
#include "schema/schema.h"
#include "schema/tables/tables.h"
#include "tests/support/known.h"

/* Whether the path leads to a field, message by message. */
static bool is_field(const char *path)
{
	const struct message *message = &message_job;
	const struct field *field = NULL;
	char name[64];
	size_t len;

	for (;;) {
		len = strcspn(path, ".");
		assert_true(len < sizeof(name));
		memcpy(name, path, len);
		name[len] = '\0';
		field = message ? message_field(message, name) : NULL;
		if (!field)
			return false;
		message = field->message;
		path += len;
		if (!*path++)
			return true;
	}
}

static void every_rule_says_why_and_by_whom(void **state)
{
	const struct rule *const tables[] = { rules, general_rules };
	const struct rule *rule;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(tables); i++) {
		for (rule = tables[i]; rule->id; rule++) {
			if (!rule->why || !text_ends(rule->why, "."))
				fail_msg("rule %s does not say why", rule->id);
			if (!rule->source || strlen(rule->source) <= 5)
				fail_msg("rule %s has no source", rule->id);
		}
	}
}

static void rules_are_documented(void **state)
{
	const struct rule *rule, *other;
	const char *const *field;

	(void)state;
	for (rule = rules; rule->id; rule++) {
		for (other = rules; other != rule; other++)
			assert_string_not_equal(other->id, rule->id);
		assert_non_null(rule->doc);
		assert_true(text_ends(rule->doc, "."));
		assert_true(rule->severity <= SEVERITY_WARNING);
		assert_true(!rule->check != !rule->when);
		assert_non_null(rule->fields);
		assert_non_null(rule->fields[0]);
		for (field = rule->fields; *field; field++)
			if (!is_field(*field))
				fail_msg("rule %s: no field %s", rule->id,
					 *field);
	}
}

/* Counts the problems with the id; returns -1 if a provider is not built in. */
static int count_id(const char *text, const char *id)
{
	const struct schema_options options = known_options();
	struct problems found;
	struct jobs jobs;
	struct error err;
	bool known = true;
	size_t i;
	int n = 0;

	found = (struct problems){ 0 };
	assert_int_equal(schema_load_text("a.yaml", text, strlen(text),
					  &options, &jobs, &found, &err),
			 0);
	for (i = 0; i < found.count; i++) {
		n += !strcmp(found.items[i].rule, id);
		known &= strcmp(found.items[i].path, "jobrun.provider") != 0;
	}
	problems_done(&found);
	jobs_done(&jobs);
	return known ? n : -1;
}

/* The examples of explain have the problems that validate finds. */
static void examples_are_right_and_wrong(void **state)
{
	const struct rule *const tables[] = { rules, general_rules };
	const struct rule *rule;
	size_t i, shown = 0;

	(void)state;
	for (i = 0; i < COUNT(tables); i++)
		for (rule = tables[i]; rule->id; rule++) {
			assert_true(!rule->wrong == !rule->right);
			if (!rule->wrong)
				continue;
			shown++;
			if (!count_id(rule->wrong, rule->id))
				fail_msg("not wrong by %s:\n%s", rule->id,
					 rule->wrong);
			if (count_id(rule->right, rule->id) > 0)
				fail_msg("wrong by %s:\n%s", rule->id,
					 rule->right);
		}
	assert_true(shown > 70);
}

/* Reads all messages that the golden files expect, one after the other. */
static void read_golden(struct buf *out)
{
	static const char *const folders[] = { "tests/cli/validate/valid",
					       "tests/cli/validate/invalid" };
	struct dirent *entry;
	struct error err;
	size_t i, len;
	DIR *dir;

	for (i = 0; i < COUNT(folders); i++) {
		dir = opendir(folders[i]);
		assert_non_null(dir);
		while ((entry = readdir(dir))) {
			char *path, *text;

			if (!text_ends(entry->d_name, ".err"))
				continue;
			path = path_join(folders[i], entry->d_name);
			text = file_read(path, 1 << 20, &len, &err);
			assert_non_null(text);
			buf_add(out, text, len);
			free(text);
			free(path);
		}
		closedir(dir);
	}
}

static void every_rule_has_a_file_that_breaks_it(void **state)
{
	struct buf all = { 0 };
	const struct rule *rule;
	char mark[64];

	(void)state;
	read_golden(&all);
	for (rule = rules; rule->id; rule++) {
		snprintf(mark, sizeof(mark), "[%s]", rule->id);
		if (!rule->wrong && !strstr(buf_text(&all), mark))
			fail_msg("no file breaks rule %s", rule->id);
	}
	buf_done(&all);
}

static void forms_are_checked(void **state)
{
	static const char digest[] = "gcr.io/p/i@sha256:"
				     "0123456789abcdef0123456789abcdef"
				     "0123456789abcdef0123456789abcdef";
	static const struct {
		int (*check)(const char *value, struct error *err);
		const char *value;
		bool right;
	} cases[] = {
		{ check_image, "ubuntu", true },
		{ check_image, "ubuntu:20.04", true },
		{ check_image, "localhost:5000/a/b:c", true },
		{ check_image, digest, true },
		{ check_image, "gcr.io/p/i@sha256:0", false },
		{ check_image, "gcr.io/p/i:a b", false },
		{ check_image, "/i", false },
		{ check_image, "i/", false },
		{ check_image, "-i", false },
		{ check_image, "", false },
		{ check_image, "a:b/c:d:e", false },
		{ check_url, "gs://b", true },
		{ check_url, "gs://b/a b", true },
		{ check_url, "out/a", true },
		{ check_url, "gs://", false },
		{ check_url, "gs:///a", false },
		{ check_url, "gs://a b/c", false },
		{ check_url, "s3://b", false },
		{ check_url, "", false },
		{ check_store, "s3://b/a b", true },
		{ check_store, "gs://b", true },
		{ check_store, "out/a", true },
		{ check_store, "s3://", false },
		{ check_store, "s3:b", false },
		{ check_store, "ftp://b/c", false },
		{ check_module, "trainer", true },
		{ check_module, "a.b_c.d2", true },
		{ check_module, "a..b", false },
		{ check_module, ".a", false },
		{ check_module, "a.", false },
		{ check_module, "a.py", false },
		{ check_module, "a/b", false },
		{ check_module, "", false },
		{ check_version, "2.11", true },
		{ check_version, "2", false },
		{ check_version, "2.", false },
		{ check_version, "2.1.0", false },
		{ check_version, "v2.1", false },
		{ check_peered, "projects/1/global/networks/n", true },
		{ check_peered, "projects/p/global/networks/n", false },
		{ check_peered, "projects/1/global/networks/", false },
		{ check_peered, "projects//global/networks/n", false },
		{ check_peered, "projects/", false },
		{ check_peered, "n", false },
		{ check_network, "n", true },
		{ check_network, "projects/p-1/global/networks/n-1", true },
		{ check_network, "projects/p/global/networks/", false },
		{ check_network, "projects//global/networks/n", false },
		{ check_network, "projects/p/regions/r/subnetworks/n", false },
		{ check_network, "-n", false },
		{ check_network, "n; true", false },
		{ check_network, "", false },
		{ check_kms_key,
		  "projects/p/locations/l/keyRings/r/cryptoKeys/k", true },
		{ check_kms_key,
		  "projects/p/locations/l/keyRings/r/cryptoKeys/k/", false },
		{ check_kms_key, "projects/p/locations//keyRings/r", false },
		{ check_host, "a", true },
		{ check_host, "me@a.b:22", true },
		{ check_host, "-a", false },
		{ check_host, "me@-a", false },
		{ check_host, "@a", false },
		{ check_host, "", false },
		{ check_pattern, "loss=([0-9.]+)", true },
		{ check_pattern, "loss", false },
		{ check_pattern, "(", false },
		{ check_pattern, "(\\d)", false },
		{ check_pattern, "^ *[]a[:space:](]{1,300}=([0-9]{1,20})",
		  true },
		{ check_pattern, "([0-9]+\\.?[0-9]{0,255})\\(x", true },
		{ check_exit_codes, "1", true },
		{ check_exit_codes, "1-255", true },
		{ check_exit_codes, "0", false },
		{ check_exit_codes, "3-2", false },
		{ check_exit_codes, "-1", false },
		{ check_exit_codes, "99999999999999999999", false },
		{ check_signal, "SIGTERM", true },
		{ check_signal, "TERM", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct error err = { 0 };
		int ret = cases[i].check(cases[i].value, &err);

		if ((ret == 0) != cases[i].right)
			fail_msg("'%s' gives %d: %s", cases[i].value, ret,
				 err.text);
	}
}

/* Without a limit the first pattern would exhaust the stack, the others the
 * memory. */
static void patterns_have_limits(void **state)
{
	static const char limit[] = "repeats too much: written out it has more "
				    "than 2000 parts";
	static const struct {
		const char *value, *wrong;
	} cases[] = {
		{ "((((a{1,90}){1,90}){1,90}){1,90})", limit },
		{ "([)](a{2}){1000}){2}", limit },
		{ "(a{99999999999999999999,})", limit },
		{ "(((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)", limit },
		{ "(a*)*\\1b",
		  "must not refer back to a group with \\1: that can take "
		  "forever" },
	};
	size_t depth = 100000, i;
	struct error err = { 0 };
	struct buf deep = { 0 };

	(void)state;
	for (i = 0; i < depth; i++)
		buf_putc(&deep, '(');
	for (i = 0; i < depth; i++)
		buf_putc(&deep, ')');
	assert_int_equal(check_pattern(buf_text(&deep), &err), -1);
	assert_string_equal(err.text, "has more than 32 nested groups");
	buf_done(&deep);
	for (i = 0; i < COUNT(cases); i++) {
		assert_int_equal(check_pattern(cases[i].value, &err), -1);
		assert_string_equal(err.text, cases[i].wrong);
	}
}

static bool add_path(void *ctx, const char *path, bool honoured)
{
	if (!honoured)
		buf_printf(ctx, "%s\n", path);
	return honoured;
}

/* An unused message is reported once, without its fields. */
static void unused_fields_are_told(void **state)
{
	static const char text[] =
		"trainingInput:\n"
		"  scaleTier: BASIC\n"
		"  scheduling: {maxRunningTime: 10s, priority: 3}\n"
		"jobrun:\n"
		"  command: [a]\n"
		"  data: {train: {urls: [a.tar]}}\n";
	static const struct schema_options options = { 0 };
	struct problems found = { 0 };
	struct buf paths = { 0 };
	struct error err;
	struct jobs jobs;

	(void)state;
	assert_int_equal(schema_load_text("a.yaml", text, strlen(text),
					  &options, &jobs, &found, &err),
			 0);
	assert_int_equal(jobs.count, 1);
	message_visit(&message_job, jobs.items[0], "", 0, add_path, &paths);
	assert_string_equal(buf_text(&paths),
			    "trainingInput.scheduling.priority\n"
			    "jobrun.data\n");
	buf_done(&paths);
	problems_done(&found);
	jobs_done(&jobs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_documented),
		cmocka_unit_test(every_rule_says_why_and_by_whom),
		cmocka_unit_test(examples_are_right_and_wrong),
		cmocka_unit_test(every_rule_has_a_file_that_breaks_it),
		cmocka_unit_test(forms_are_checked),
		cmocka_unit_test(patterns_have_limits),
		cmocka_unit_test(unused_fields_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
