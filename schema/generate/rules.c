/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs when jobrun is built: reads the named files of schema/rules/ and writes
 * them as tables of C. schema/rules/rules.h explains them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "schema/read/yaml_read.h"

#define SIZE_MAX_IN (1 << 20)
#define TEXT_MAX 256

static const struct {
	const char *word, *op;
} ops[] = {
	{ "given", "RULE_GIVEN" },
	{ "absent", "RULE_ABSENT" },
	{ "is", "RULE_IS" },
	{ "not", "RULE_NOT" },
	{ "not-starts", "RULE_NOT_STARTS" },
	{ "ends", "RULE_ENDS" },
	{ "lacks", "RULE_LACKS" },
	{ "over", "RULE_OVER" },
	{ "under", "RULE_UNDER" },
	{ "legacy", "RULE_LEGACY" },
	{ "compute", "RULE_COMPUTE" },
	{ "has", "RULE_HAS" },
	{ "has-no", "RULE_HAS_NO" },
};

static void fail(const char *id, const char *what)
{
	fprintf(stderr, "schema/rules: %s: %s\n", id, what);
	exit(1);
}

static void put_text(const char *text)
{
	if (!text) {
		fputs("0", stdout);
		return;
	}
	putchar('"');
	for (; *text; text++) {
		if (*text == '\n') {
			fputs("\\n", stdout);
			continue;
		}
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('"');
}

static void put_member(const json_t *rule, const char *name)
{
	const char *text = json_get_text(rule, name, NULL);

	if (!text)
		return;
	printf(" .%s = ", name);
	put_text(text);
	putchar(',');
}

/* Writes .NAME = PREFIX_AI_PLATFORM_RULES for "ai-platform-rules". */
static void put_constant(const json_t *rule, const char *key, const char *name,
			 const char *prefix)
{
	const char *text = json_get_text(rule, key, NULL);

	if (!text)
		return;
	printf(" .%s = %s", name, prefix);
	for (; *text; text++)
		putchar(*text == '-' ? '_' : *text - ('a' <= *text) * 32);
	putchar(',');
}

static void put_texts(const json_t *list)
{
	json_t *one;
	size_t i;

	fputs("(const char *const[]){", stdout);
	json_array_foreach(list, i, one)
	{
		put_text(json_string_value(one));
		putchar(',');
	}
	fputs("0},", stdout);
}

static const char *op_of(const char *word)
{
	size_t i;

	for (i = 0; i < COUNT(ops); i++)
		if (!strcmp(ops[i].word, word))
			return ops[i].op;
	return NULL;
}

/* Writes a condition given as "PATH OP A|B -- label of the place". */
static void put_condition(const char *id, const char *text)
{
	char line[TEXT_MAX], *label, *rest = line, *path, *word, *value;

	if (strlen(text) >= sizeof(line))
		fail(id, "a condition is too long");
	memcpy(line, text, strlen(text) + 1);
	label = strstr(line, " -- ");
	if (label) {
		*label = '\0';
		label += 4;
	}
	path = strsep(&rest, " ");
	word = rest ? strsep(&rest, " ") : NULL;
	if (!word || !op_of(word))
		fail(id, text);
	printf("{ .path = \"%s\", .op = %s, .label = ", path, op_of(word));
	put_text(label);
	fputs(", .values = (const char *const[]){", stdout);
	while (rest && (value = strsep(&rest, "|"))) {
		put_text(value);
		putchar(',');
	}
	fputs("0} },\n", stdout);
}

static void put_conditions(const json_t *rule, const char *key, const char *id)
{
	const json_t *all = json_object_get(rule, key);
	json_t *one;
	size_t i;

	if (!all)
		return;
	printf(" .%s = (const struct condition[]){\n", key);
	json_array_foreach(all, i, one)
		put_condition(id, json_string_value(one));
	fputs("{ .path = 0 } },", stdout);
}

static void put_when(const json_t *rule, const char *id)
{
	put_conditions(rule, "when", id);
	put_conditions(rule, "editor", id);
	put_member(rule, "at");
	put_member(rule, "message");
	put_member(rule, "hint");
	if (json_object_get(rule, "roles")) {
		fputs(" .roles = ", stdout);
		put_texts(json_object_get(rule, "roles"));
	}
}

static void put_path(const char *path, const char *role, json_t *out)
{
	const char *mark = strstr(path, "{role}");
	char *text = mem_printf(
		"%.*s%s%s", (int)(mark ? mark - path : (long)strlen(path)),
		path, mark ? role : "", mark ? mark + strlen("{role}") : "");

	json_object_set_new(out, text, json_true());
	free(text);
}

/* Writes the fields that the rule names, or else the paths of all conditions,
 * each once. */
static void put_fields(const json_t *rule)
{
	static const char *const all[] = { "master", "worker",
					   "parameterServer", "evaluator" };
	const json_t *roles = json_object_get(rule, "roles");
	json_t *one, *paths = json_object();
	char path[TEXT_MAX];
	const char *name;
	size_t i, k;

	json_array_foreach(json_object_get(rule, "fields"), i, one)
		json_object_set_new(paths, json_string_value(one), json_true());
	json_array_foreach(json_object_get(rule, "when"), i, one)
	{
		snprintf(path, sizeof(path), "%.*s",
			 (int)strcspn(json_string_value(one), " "),
			 json_string_value(one));
		for (k = 0; !roles && k < COUNT(all); k++)
			put_path(path, all[k], paths);
		json_array_foreach(roles, k, one)
			put_path(path, json_string_value(one), paths);
	}
	if (json_object_size(paths)) {
		fputs(" .fields = (const char *const[]){", stdout);
		json_object_foreach(paths, name, one) printf("\"%s\",", name);
		fputs("0},", stdout);
	}
	json_decref(paths);
}

static void put_flag(const json_t *rule, const char *name)
{
	if (json_get_text(rule, name, NULL))
		printf(" .%s = true,", name);
}

static void put_rule(const json_t *rule)
{
	const char *id = json_get_text(rule, "id", NULL);
	const char *check = json_get_text(rule, "check", NULL);

	if (!id || !json_get_text(rule, "doc", NULL))
		fail(id ? id : "?", "an id and a doc are needed");
	putchar('{');
	put_member(rule, "id");
	put_member(rule, "doc");
	put_member(rule, "why");
	put_member(rule, "source");
	put_member(rule, "wrong");
	put_member(rule, "right");
	put_constant(rule, "severity", "severity", "SEVERITY_");
	put_constant(rule, "for", "traits", "TRAIT_");
	put_constant(rule, "not-for", "unless", "TRAIT_");
	put_flag(rule, "note");
	put_flag(rule, "dated");
	put_flag(rule, "quiet");
	put_fields(rule);
	put_when(rule, id);
	if (check)
		printf(" .check = %s,", check);
	puts("},");
}

/* Writes the rules between fields, or the problems that any file may have. */
static void put_rules(json_t *const *files, int count, bool between)
{
	json_t *rule;
	size_t i;
	int n;

	printf("const struct rule %s[] = {\n",
	       between ? "rules" : "general_rules");
	for (n = 0; n < count; n++)
		json_array_foreach(files[n], i, rule)
		{
			if (between == (json_object_get(rule, "check") ||
					json_object_get(rule, "when")))
				put_rule(rule);
		}
	puts("{ .id = 0 }\n};");
}

/* Writes { "", "retries", "jobrun.restart.maxRestarts" }, */
static void put_hint(const char *field, const char *given, const char *meant)
{
	printf("{ \"%s\", \"%s\", ", field, given);
	put_text(meant);
	puts("},");
}

static void put_hints(json_t *const *files, int count)
{
	const char *field, *given;
	json_t *one, *meant;
	int n;

	puts("const struct hint hints[] = {");
	for (n = 0; n < count; n++) {
		json_object_foreach(json_object_get(files[n], "keys"), given,
				    meant)
			put_hint("", given, json_string_value(meant));
		json_object_foreach(json_object_get(files[n], "values"), field,
				    one) json_object_foreach(one, given, meant)
			put_hint(field, given, json_string_value(meant));
	}
	puts("{ 0, 0, 0 }\n};");
}

int main(int argc, char **argv)
{
	json_t **files = mem_alloc((size_t)argc * sizeof(*files));
	struct error err;
	int i;

	for (i = 1; i < argc; i++) {
		size_t len;
		char *text = file_read(argv[i], SIZE_MAX_IN, &len, &err);

		files[i - 1] =
			text ? yaml_read(text, len, argv[i], &err) : NULL;
		if (!files[i - 1])
			fail(argv[i], err.text);
		free(text);
	}
	puts("#include \"core/job/traits.h\"\n"
	     "#include \"schema/rules/hints.h\"\n"
	     "#include \"schema/rules/rules_check.h\"\n");
	put_rules(files, argc - 1, true);
	put_rules(files, argc - 1, false);
	put_hints(files, argc - 1);
	for (i = 1; i < argc; i++)
		json_decref(files[i - 1]);
	free(files);
	return 0;
}
