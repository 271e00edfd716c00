/* SPDX-License-Identifier: Apache-2.0 */
/* explain, the JSON Schema and the manual must be complete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/job/check.h"
#include "providers/registry.h"
#include "schema/describe/explain.h"
#include "schema/tables/forms.h"
#include "schema/describe/outline.h"
#include "schema/rules/rules.h"
#include "schema/tables/tables.h"
#include "core/base/columns.h"

static void check_fields(const struct outline *all,
			 const struct message *message, bool of_provider)
{
	struct field fields[OUTLINE_FIELDS_MAX];
	size_t i, n = outline_fields(all, message, fields);

	assert_non_null(message->doc);
	for (i = 0; i < n; i++) {
		const struct message *below = outline_below(&fields[i]);
		bool block = message == &message_jobrun && below &&
			     i >= message_field_count(message);
		size_t len = fields[i].doc ? strlen(fields[i].doc) : 0;

		if (!len || fields[i].doc[len - 1] != '.')
			fail_msg("%s.%s has no documentation", message->name,
				 fields[i].name);
		/* A JSON Schema can't call a function, so every check needs a
		 * form. */
		if (!of_provider && fields[i].check &&
		    !form_of(fields[i].check))
			fail_msg("the check of %s.%s is not in forms.c",
				 message->name, fields[i].name);
		if (below)
			check_fields(all, below, of_provider || block);
	}
}

static void every_field_is_documented(void **state)
{
	struct outline all;

	(void)state;
	outline_init(&all, providers);
	check_fields(&all, &message_job, false);
}

static void every_rule_has_a_source_and_fields(void **state)
{
	const struct rule *rule;
	const char *const *field;
	struct outlined at;
	struct outline all;
	struct error err;

	(void)state;
	outline_init(&all, providers);
	for (rule = rules; rule->id; rule++) {
		if (!rule->doc || !rule->source || !rule->fields)
			fail_msg("rule %s says too little", rule->id);
		for (field = rule->fields; *field; field++)
			if (outline_find(&all, *field, &at, &err) < 0 ||
			    strcmp(at.path, *field) != 0)
				fail_msg("rule %s: '%s'", rule->id, *field);
	}
}

static void every_use_is_of_a_field(void **state)
{
	const struct provider *const *provider;
	const struct field_use *use;
	struct outlined at;
	struct outline all;
	struct error err;

	(void)state;
	outline_init(&all, providers);
	for (provider = providers; *provider; provider++)
		for (use = (*provider)->uses; use && use->path; use++)
			if (outline_find(&all, use->path, &at, &err) < 0 ||
			    strcmp(at.path, use->path) != 0)
				fail_msg("provider %s: '%s'", (*provider)->name,
					 use->path);
}

/* Checks that every provider has a sentence about every field or does not use
 * it, and reads its own block but no other provider's. */
static void check_uses(const struct outline *all, const struct message *message,
		       const char *path)
{
	const struct provider *const *provider;
	const struct field *field;
	char below[256];

	for (field = message->fields; field->name; field++) {
		snprintf(below, sizeof(below), "%s%s%s", path, *path ? "." : "",
			 field->name);
		for (provider = all->providers; *provider; provider++)
			if (!(*provider)->uses ||
			    !outline_use(all, *provider, below))
				fail_msg("%s: nothing of %s", (*provider)->name,
					 below);
		if (field->message)
			check_uses(all, field->message, below);
	}
}

static void every_provider_says_what_becomes_of_every_field(void **state)
{
	struct outline all;
	size_t i;
	char path[64];

	(void)state;
	outline_init(&all, providers);
	check_uses(&all, &message_job, "");
	for (i = 0; all.providers[i]; i++) {
		const struct provider *own = all.providers[i];
		const struct provider *other = all.providers[i ? 0 : 1];

		if (!own->block)
			continue;
		snprintf(path, sizeof(path), "jobrun.%s", own->name);
		assert_string_equal(outline_use(&all, own, path),
				    "as documented");
		assert_string_equal(outline_use(&all, other, path), "");
	}
}

/* The examples in forms.c must pass both the patterns and the checks. */
static void every_example_passes_its_check(void **state)
{
	static int (*const checks[])(const char *, struct error *) = {
		check_job_id,   check_seconds, check_label,   check_label_key,
		check_variable, check_email,   check_image,   check_url,
		check_module,   check_version, check_peered,  check_kms_key,
		check_project,  check_host,    check_pattern, check_exit_codes,
		check_signal,   check_network, check_login,   check_store,
	};
	struct error err = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		const struct form *form = form_of(checks[i]);

		assert_non_null(form);
		if (checks[i](form->example, &err) < 0)
			fail_msg("'%s' %s", form->example, err.text);
	}
}

static void text_is_wrapped(void **state)
{
	struct buf out = { 0 };

	(void)state;
	wrap_text("one two three four five six seven", 2, 4, 26, &out);
	assert_string_equal(buf_text(&out),
			    "one two three four five\n    six seven\n");
	buf_clear(&out);
	wrap_text("", 0, 0, 80, &out);
	assert_string_equal(buf_text(&out), "\n");
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_is_documented),
		cmocka_unit_test(every_rule_has_a_source_and_fields),
		cmocka_unit_test(every_use_is_of_a_field),
		cmocka_unit_test(
			every_provider_says_what_becomes_of_every_field),
		cmocka_unit_test(every_example_passes_its_check),
		cmocka_unit_test(text_is_wrapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
