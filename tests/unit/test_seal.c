/* SPDX-License-Identifier: Apache-2.0 */
/* Placeholders, and the sealing of secrets: no output contains any. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/plan/show_value.h"
#include "core/provider/placeholder.h"
#include "core/plan/diff.h"
#include "core/plan/seal.h"

static const char *const sensitive[] = { "auth.password", NULL };
static const struct kind node = { .name = "node", .sensitive = sensitive };

static json_t *parse(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

	assert_non_null(value);
	return value;
}

static const struct seal some_key = { .key = { 1, 2, 3 }, .ready = true };

/* Returns `found`, sealed by the desired value, as text. */
static char *sealed(const struct seal *seal, const char *want,
		    const char *applied, const char *found)
{
	struct resource it = { .kind = &node, .name = "vm" };
	json_t *last = applied ? parse(applied) : NULL;
	json_t *value = parse(found);
	struct error err;
	json_t *out;
	char *text;

	it.properties = parse(want);
	out = seal_properties(seal, &it, last, value, &err);
	assert_non_null(out);
	text = json_canonical(out);
	json_decref(out);
	json_decref(it.properties);
	json_decref(last);
	json_decref(value);
	return text;
}

#define SECRET "{\"$jobrun\":\"secret\",\"name\":\"S\"}"
#define HIDDEN "{\"$jobrun\":\"sealed\",\"digest\":\"\"}"

static void secrets_are_sealed_wherever_they_stand(void **state)
{
	static const struct {
		const char *want, *applied, *found, *out;
	} cases[] = {
		{ "{\"a\":1}", NULL, "{\"a\":2}", "{\"a\":2}" },
		{ "{\"a\":" SECRET ",\"b\":1}", NULL,
		  "{\"a\":\"x\",\"b\":1,\"c\":2}",
		  "{\"a\":" HIDDEN ",\"b\":1,\"c\":2}" },
		/* The kind declares the path as secret. */
		{ "{}", NULL, "{\"auth\":{\"password\":\"x\",\"user\":\"u\"}}",
		  "{\"auth\":{\"password\":" HIDDEN ",\"user\":\"u\"}}" },
		{ "{}", NULL, "{\"auth\":\"x\"}", "{\"auth\":" HIDDEN "}" },
		/* A secret that is no longer wanted, beside one that is. */
		{ "{\"env\":{\"A\":" SECRET ",\"B\":\"b\"}}", NULL,
		  "{\"env\":{\"A\":\"x\",\"B\":\"c\",\"OLD\":\"y\"}}",
		  "{\"env\":{\"A\":" HIDDEN ",\"B\":\"c\",\"OLD\":" HIDDEN
		  "}}" },
		/* A value that was secret when it was applied. */
		{ "{\"a\":\"plain\"}", "{\"a\":" HIDDEN "}", "{\"a\":\"x\"}",
		  "{\"a\":" HIDDEN "}" },
		{ "{\"l\":[" SECRET ",1]}", NULL, "{\"l\":[\"x\",1,\"y\"]}",
		  "{\"l\":[" HIDDEN ",1," HIDDEN "]}" },
		/* The value has another type than its mask. */
		{ "{\"l\":[" SECRET "]}", NULL, "{\"l\":\"x\"}",
		  "{\"l\":" HIDDEN "}" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		json_t *want = parse(cases[i].out);
		char *expected = json_canonical(want);
		char *text = sealed(NULL, cases[i].want, cases[i].applied,
				    cases[i].found);

		assert_string_equal(text, expected);
		free(text);
		free(expected);
		json_decref(want);
	}
}

static void equal_secrets_are_equal_only_under_one_key(void **state)
{
	static const char want[] = "{\"a\":" SECRET "}";
	const struct seal other = { .key = { 9 }, .ready = true };
	char *one = sealed(&some_key, want, NULL, "{\"a\":\"hunter2\"}");
	char *same = sealed(&some_key, want, NULL, "{\"a\":\"hunter2\"}");
	char *next = sealed(&some_key, want, NULL, "{\"a\":\"hunter3\"}");
	char *keyed = sealed(&other, want, NULL, "{\"a\":\"hunter2\"}");

	(void)state;
	assert_string_equal(one, same);
	assert_string_not_equal(one, next);
	assert_string_not_equal(one, keyed);
	assert_null(strstr(one, "hunter"));
	free(one);
	free(same);
	free(next);
	free(keyed);
}

/* RFC 4231, test case 2. */
static void keyed_digests_are_hmac(void **state)
{
	struct digest digest;

	(void)state;
	digest_keyed("Jefe", 4, "what do ya want for nothing?", &digest);
	assert_string_equal(digest.hex, "5bdcc146bf60754e6a042426089575c7"
					"5a003f089d2739839dec58b964ec3843");
}

static int known_output(void *arg, const char *kind, const char *resource,
			const char *name, json_t **out, struct error *err)
{
	(void)arg;
	if (!strcmp(resource, "later"))
		return 1;
	if (!strcmp(resource, "broken"))
		return error_set(err, ERROR_FAILED, "no %s of %s", name, kind);
	*out = json_string("10.0.0.1");
	return 0;
}

static int known_secret(void *arg, const char *name, json_t **out,
			struct error *err)
{
	(void)arg;
	(void)err;
	*out = json_sprintf("value of %s", name);
	return 0;
}

static void placeholders_are_filled_and_shown(void **state)
{
	static const struct placeholder_source source = {
		.output = known_output, .secret = known_secret
	};
	struct resource vm = { .kind = &node, .name = "vm" };
	struct resource later = { .kind = &node, .name = "later" };
	struct resource broken = { .kind = &node, .name = "broken" };
	json_t *value = json_pack("{s:[o,o,s],s:o,s:i}", "peers",
				  placeholder_output(&vm, "ip"),
				  placeholder_output(&later, "ip"), "x",
				  "token", placeholder_secret("T"), "n", 1);
	json_t *shown = placeholder_show(value);
	struct buf line = { 0 };
	struct error err;
	json_t *filled;

	(void)state;
	show_value(&line, json_object_get(value, "peers"));
	assert_string_equal(line.data,
			    "(known after apply) (known after apply) x");
	assert_string_equal(json_get_text(shown, "token", ""), "(sensitive)");
	filled = placeholder_fill(value, &source, &err);
	assert_non_null(filled);
	assert_string_equal(json_get_text(filled, "token", ""), "value of T");
	assert_true(placeholder_holds(filled, PLACEHOLDER_OUTPUT));
	assert_false(placeholder_holds(filled, PLACEHOLDER_SECRET));
	json_decref(filled);
	json_object_set_new(value, "x", placeholder_output(&broken, "ip"));
	assert_null(placeholder_fill(value, &source, &err));
	assert_string_equal(err.text, "no ip of node");
	json_decref(shown);
	json_decref(value);
	buf_done(&line);
}

static void a_placeholder_is_one_value_to_a_diff(void **state)
{
	struct resource vm = { .kind = &node, .name = "vm" };
	json_t *before = json_pack("{s:s,s:[s]}", "ip", "1", "all", "2");
	json_t *after =
		json_pack("{s:o,s:[o]}", "ip", placeholder_output(&vm, "ip"),
			  "all", placeholder_output(&vm, "ip"));
	struct arena *mem = arena_new();
	struct diff diff;

	(void)state;
	diff_json(before, after, mem, &diff);
	assert_int_equal(diff.count, 2);
	assert_string_equal(diff.items[0].path, "ip");
	assert_string_equal(diff.items[1].path, "all");
	json_decref(before);
	json_decref(after);
	arena_free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(secrets_are_sealed_wherever_they_stand),
		cmocka_unit_test(equal_secrets_are_equal_only_under_one_key),
		cmocka_unit_test(keyed_digests_are_hmac),
		cmocka_unit_test(placeholders_are_filled_and_shown),
		cmocka_unit_test(a_placeholder_is_one_value_to_a_diff),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
