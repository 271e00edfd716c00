/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/plan/diff.h"
#include "core/base/show.h"
#include "core/plan/show_value.h"

static json_t *read_json(const char *text)
{
	struct error err;
	json_t *value =
		text ? json_read(text, strlen(text), "test", &err) : NULL;

	assert_true(!text || value);
	return value;
}

/* Returns "path:before>after" for each change, "-" for a missing value. */
static char *diff_text(const char *before, const char *after)
{
	struct arena *mem = arena_new();
	json_t *a = read_json(before), *b = read_json(after);
	struct buf out = { 0 };
	struct diff diff;
	size_t i;

	diff_json(a, b, mem, &diff);
	for (i = 0; i < diff.count; i++) {
		const struct change *change = &diff.items[i];
		char *was = json_canonical(change->before);
		char *is = json_canonical(change->after);

		buf_printf(&out, "%s%s:%s>%s", i ? " " : "", change->path,
			   was ? was : "-", is ? is : "-");
		free(was);
		free(is);
	}
	json_decref(a);
	json_decref(b);
	arena_free(mem);
	return buf_take(&out);
}

static void differences(void **state)
{
	static const struct {
		const char *before, *after, *want;
	} cases[] = {
		{ "{}", "{}", "" },
		{ NULL, "{}", "" },
		{ "{\"a\":1}", "{\"a\":1}", "" },
		{ "{\"a\":1}", "{\"a\":1.0}", "" },
		{ "{\"a\":1}", "{\"a\":\"1\"}", "a:1>\"1\"" },
		{ "{\"a\":null}", "{}", "" },
		{ "{\"a\":null}", "{\"a\":2}", "a:->2" },
		{ "{\"a\":true}", "{\"a\":false}", "a:true>false" },
		/* The order is that of `after`, then what is gone, sorted. */
		{ "{\"z\":1,\"y\":2,\"m\":3}", "{\"n\":1,\"m\":4,\"b\":5}",
		  "n:->1 m:3>4 b:->5 y:2>- z:1>-" },
		/* Members of objects on either side are compared. */
		{ NULL, "{\"a\":{\"b\":{\"c\":1},\"d\":[]}}",
		  "a.b.c:->1 a.d:->[]" },
		{ "{\"a\":{\"b\":1,\"c\":2}}", "{\"a\":{\"c\":3}}",
		  "a.c:2>3 a.b:1>-" },
		{ "{\"a\":{\"b\":1}}", NULL, "a.b:1>-" },
		{ "{\"a\":{}}", "{}", "a:{}>-" },
		{ "{\"a\":{}}", "{\"a\":{\"b\":1}}", "a.b:->1" },
		{ "{\"a\":{\"b\":1}}", "{\"a\":7}", "a:{\"b\":1}>7" },
		/* A plain list is one value, a list of objects is not. */
		{ "{\"a\":[1,2]}", "{\"a\":[1,3]}", "a:[1,2]>[1,3]" },
		{ "{\"a\":[{\"b\":1},{\"b\":2}]}",
		  "{\"a\":[{\"b\":1},{\"b\":3},{\"b\":4}]}",
		  "a[1].b:2>3 a[2].b:->4" },
		{ "{\"a\":[[1],[2]]}", "{\"a\":[[1]]}", "a[1]:[2]>-" },
		/* A key that could be taken for a path is quoted. */
		{ "{\"l\":{\"a.b\":1}}", "{\"l\":{\"a.b\":2}}",
		  "l[\"a.b\"]:1>2" },
		{ NULL, "{\"\":1,\"a\\\"b\":2}",
		  "[\"\"]:->1 [\"a\\\"b\"]:->2" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		char *got = diff_text(cases[i].before, cases[i].after);

		if (strcmp(got, cases[i].want) != 0)
			fail_msg("case %zu: '%s', not '%s'", i, got,
				 cases[i].want);
		free(got);
	}
}

static void deep_values_are_compared(void **state)
{
	struct buf text = { 0 };
	char *got;
	int i;

	(void)state;
	for (i = 0; i < 2000; i++)
		buf_puts(&text, "{\"a\":");
	buf_puts(&text, "1");
	for (i = 0; i < 2000; i++)
		buf_puts(&text, "}");
	got = diff_text("{}", buf_text(&text));
	assert_int_equal(strlen(got), 2 * 2000 - 1 + strlen(":->1"));
	free(got);
	buf_done(&text);
}

static void paths_touch_fields(void **state)
{
	static const struct {
		const char *path, *field;
		bool want;
	} cases[] = {
		{ "zone", "zone", true },
		{ "zone", "zones", false },
		{ "zones", "zone", false },
		{ "disk.size", "disk", true },
		{ "disk[0].size", "disk", true },
		{ "disk", "disk.size", true },
		{ "disk.type", "disk.size", false },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++)
		assert_int_equal(diff_touches(cases[i].path, cases[i].field),
				 cases[i].want);
}

static void values_are_one_safe_line(void **state)
{
	static const struct {
		const char *value, *want;
	} cases[] = {
		{ "\"plain\"", "plain" },
		{ "\"two words\"", "two words" },
		{ "\"\"", "\"\"" },
		{ "\" x\"", "\" x\"" },
		{ "\"a\\nb\\tc\\r\"", "$'a\\nb\\tc\\r'" },
		{ "\"a\\\\nb\"", "a\\nb" },
		{ "\"$'a\"", "\"$'a\"" },
		{ "\"\\u001b[31mred\"", "$'\\x1b[31mred'" },
		{ "\"\\u009b31m\"", "$'\\u009b31m'" },
		{ "\"a\\u202eb\\u2066c\\u200fd\"",
		  "$'a\\u202eb\\u2066c\\u200fd'" },
		{ "\"caf\\u00e9 \\u2192\"", "café →" },
		{ "[\"python3\",\"-u\",\"my train.py\",\"it's\",\"\"]",
		  "python3 -u 'my train.py' 'it'\\''s' ''" },
		{ "[\"a\\nb\",\"it's\\n\",\"a\\\\nb\"]",
		  "$'a\\nb' $'it\\'s\\n' 'a\\nb'" },
		{ "[1,2.5,true]", "1 2.5 true" },
		{ "[]", "[]" },
		{ "{}", "{}" },
		{ "{\"a\":[1,{}]}", "{\"a\":[1,{}]}" },
		{ "8", "8" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		json_t *value =
			json_loads(cases[i].value, JSON_DECODE_ANY, NULL);
		struct buf out = { 0 };

		assert_non_null(value);
		show_value(&out, value);
		assert_string_equal(buf_text(&out), cases[i].want);
		buf_done(&out);
		json_decref(value);
	}
}

static void text_is_cut_at_characters(void **state)
{
	static const struct {
		const char *text;
		size_t skip, width;
		const char *want;
	} cases[] = {
		{ "abcdef", 0, 0, "abcdef" }, { "abcdef", 0, 6, "abcdef" },
		{ "abcdef", 0, 5, "abcd…" },  { "éééééé", 0, 3, "éé…" },
		{ "abcdef", 3, 4, "…def" },   { "abcdefghi", 3, 4, "…de…" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct buf out = { 0 };

		show_cut(&out, cases[i].text, cases[i].skip, cases[i].width);
		assert_string_equal(buf_text(&out), cases[i].want);
		buf_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differences),
		cmocka_unit_test(deep_values_are_compared),
		cmocka_unit_test(paths_touch_fields),
		cmocka_unit_test(values_are_one_safe_line),
		cmocka_unit_test(text_is_cut_at_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
