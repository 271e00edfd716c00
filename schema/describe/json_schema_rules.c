/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule becomes an if/then: `if` holds what the rule says of other fields, and
 * `then` refuses the value at the rule's own place.  What the schema refuses,
 * `validate` must refuse too: so a rule holds only where it is an error of
 * every provider that the file can mean, and not for files that extend others.
 */
#include "schema/describe/json_schema_rules.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/job/traits.h"
#include "schema/rules/rules.h"
#include "schema/tables/tables.h"

#define LIST_OF_PARAMETERS "trainingInput.hyperparameters.params."

/* ---- values ------------------------------------------------------------- */

/* Returns ^(a|b) of literal texts. */
static json_t *pattern_of(const char *const *values, const char *before,
			  const char *after)
{
	struct buf text = { 0 };
	const char *p;
	json_t *out;
	size_t i;

	buf_printf(&text, "%s(", before);
	for (i = 0; values[i]; i++) {
		buf_puts(&text, i ? "|" : "");
		for (p = values[i]; *p; p++)
			buf_printf(&text, "%s%c",
				   strchr("./*+?()[]{}|^$\\", *p) ? "\\" : "",
				   *p);
	}
	buf_printf(&text, ")%s", after);
	out = json_pack("{s:s,s:s}", "type", "string", "pattern",
			buf_text(&text));
	buf_done(&text);
	return out;
}

static json_t *enum_of(const char *const *values)
{
	json_t *names = json_array();

	for (; *values; values++) {
		json_array_append_new(names, json_string(*values));
		if (!strcmp(*values, "true"))
			json_array_append_new(names, json_true());
	}
	return json_pack("{s:o}", "enum", names);
}

static json_t *over(const struct field *field, long limit)
{
	switch (field->type) {
	case FIELD_STRINGS:
		return json_pack("{s:s,s:I}", "type", "array", "minItems",
				 (json_int_t)limit + 1);
	case FIELD_PAIRS:
		return json_pack("{s:s,s:I}", "type", "object", "minProperties",
				 (json_int_t)limit + 1);
	default:
		return json_pack("{s:s,s:I}", "type", "integer",
				 "exclusiveMinimum", (json_int_t)limit);
	}
}

static json_t *negated(json_t *schema)
{
	return json_pack("{s:o}", "not", schema);
}

/* The values of a field for which a condition holds; NULL: a JSON Schema can't
 * say that. */
static json_t *values_of(const struct condition *one, const struct field *field)
{
	switch (one->op) {
	case RULE_GIVEN:
	case RULE_ABSENT:
		return json_object();
	case RULE_IS:
		return enum_of(one->values);
	case RULE_NOT:
		return negated(enum_of(one->values));
	case RULE_NOT_STARTS:
		return json_pack("{s:s,s:o}", "type", "string", "not",
				 pattern_of(one->values, "^", ""));
	case RULE_ENDS:
		return pattern_of(one->values, "", "$");
	case RULE_OVER:
		return over(field, atol(one->values[0]));
	default:
		return NULL;
	}
}

/* ---- places ------------------------------------------------------------- */

/* The path in one role, without the part before `start`, or NULL. */
static const char *path_for(const char *path, const char *role,
			    const char *start, char out[RULE_PATH_SIZE])
{
	size_t len = strlen(start);

	return strncmp(rule_path(path, role, out), start, len) ? NULL
							       : out + len;
}

/* Sets the field of the first step of a path; returns the rest, "" at the
 * end. */
static const char *step(const struct message *message, const char *path,
			const struct field **out)
{
	size_t len = strcspn(path, ".");
	char name[RULE_PATH_SIZE];

	snprintf(name, sizeof(name), "%.*s", (int)len, path);
	*out = message_field(message, name);
	path += len;
	return path + (*path == '.');
}

static const struct field *field_at(const struct message *message,
				    const char *path)
{
	const struct field *field = NULL;

	while (message && *path) {
		path = step(message, path, &field);
		message = field ? field->message : NULL;
	}
	return *path ? NULL : field;
}

/* What holds where the path, in either spelling, has one of these values
 * (taken). */
static json_t *present(const struct message *message, const char *path,
		       json_t *values)
{
	const struct field *field;
	char snake[OUTLINE_TYPE_SIZE];
	json_t *either = json_array(), *inside;

	path = step(message, path, &field);
	inside = *path ? present(field->message, path, values) : values;
	message_snake_name(field->name, snake, sizeof(snake));
	if (strcmp(snake, field->name) != 0)
		json_array_append_new(
			either, json_pack("{s:[s],s:{s:O}}", "required", snake,
					  "properties", snake, inside));
	json_array_append_new(either, json_pack("{s:[s],s:{s:o}}", "required",
						field->name, "properties",
						field->name, inside));
	return json_pack("{s:o}", "anyOf", either);
}

/* What holds where nothing at the path has one of the values (taken), and no
 * merge key of a reader that does not merge can bring one. */
static json_t *lacking(const struct message *message, const char *path,
		       json_t *values)
{
	json_t *either = json_array();
	const char *dot = path;
	char before[RULE_PATH_SIZE];

	json_array_append_new(either, present(message, path, values));
	json_array_append_new(either, json_pack("{s:[s]}", "required", "<<"));
	while ((dot = strchr(dot, '.'))) {
		snprintf(before, sizeof(before), "%.*s", (int)(dot - path),
			 path);
		json_array_append_new(
			either,
			present(message, before,
				json_pack("{s:[s]}", "required", "<<")));
		dot++;
	}
	return negated(json_pack("{s:o}", "anyOf", either));
}

static json_t *absent(const struct message *message, const char *path)
{
	return lacking(message, path, json_object());
}

/* ---- rules -------------------------------------------------------------- */

/* A rule for one role. */
struct ruled {
	const struct outline *all;
	const struct rule *rule;
	const char *role;
	const char *start; /* the list that it is about, or "" */
	const struct message *message;
};

static json_t *condition_schema(const struct ruled *it,
				const struct condition *one, const char *path)
{
	json_t *values;

	switch (one->op) {
	case RULE_ABSENT:
		return absent(it->message, path);
	case RULE_NOT:
		return lacking(it->message, path, enum_of(one->values));
	default:
		values = values_of(one, field_at(it->message, path));
		return values ? present(it->message, path, values) : NULL;
	}
}

/* Adds the providers whose jobs break the rule. */
static void put_providers(const struct ruled *it, json_t *conditions)
{
	const struct provider *const *one = it->all->providers;
	bool alone = rule_holds(it->rule, TRAITS_AI_PLATFORM);
	json_t *names = json_array(), *known;
	size_t count = 0;

	for (; *one; one++, count++)
		if (rule_holds(it->rule, (*one)->traits))
			json_array_append_new(names, json_text((*one)->name));
	if (json_array_size(names) == count && alone) {
		json_decref(names);
		return;
	}
	known = present(&message_job, "jobrun.provider",
			json_pack("{s:o}", "enum", names));
	if (alone)
		known = json_pack("{s:[o,o]}", "anyOf", known,
				  absent(&message_job, "jobrun.provider"));
	json_array_append_new(conditions, known);
}

/* Returns a type that the field never has: editors show a message of ours for
 * that, but not for `not`. */
static const char *other_type(const struct field *field)
{
	switch (field->type) {
	case FIELD_MESSAGE:
	case FIELD_NAMED:
	case FIELD_PAIRS:
	case FIELD_TREE:
		return "boolean";
	default:
		return "object";
	}
}

/* Refuses at the place of the rule what holds there. */
static json_t *refusal(const struct ruled *it, const char *path,
		       json_t *conditions)
{
	const struct message *message = it->message;
	json_t *out = json_pack(
		"{s:{s:o},s:{s:s,s:o}}", "if", "allOf", conditions, "then",
		"type", other_type(field_at(message, path)), "errorMessage",
		json_sprintf("%s [%s]", it->rule->doc, it->rule->id));
	const char *names[8];
	const struct field *field;
	size_t n = 0;

	while (*path && n < COUNT(names)) {
		path = step(message, path, &field);
		names[n++] = field->name;
		message = field->message;
	}
	while (n--)
		out = json_pack("{s:{s:o}}", "properties", names[n], out);
	return out;
}

/* Returns new, or NULL if a condition can't be said. */
static json_t *rule_schema(const struct ruled *it, const struct condition *when)
{
	json_t *conditions = json_array(), *own = json_array(), *one;
	char room[RULE_PATH_SIZE], at_room[RULE_PATH_SIZE];
	const char *at = path_for(it->rule->at, it->role, it->start, at_room);
	const char *path;

	for (; when->path; when++) {
		bool is_own;

		path = path_for(when->path, it->role, it->start, room);
		is_own = path && at && !strcmp(path, at);
		if (is_own)
			one = values_of(when, field_at(it->message, path));
		else
			one = path ? condition_schema(it, when, path) : NULL;
		if (!one) {
			json_decref(conditions);
			json_decref(own);
			return NULL;
		}
		json_array_append_new(is_own ? own : conditions, one);
	}
	if (!*it->start) {
		put_providers(it, conditions);
		json_array_append_new(conditions,
				      absent(&message_job, "jobrun.extends"));
	}
	return json_pack("{s:{s:o},s:o}", "if", "allOf", conditions, "then",
			 refusal(it, at, own));
}

static void put_rule(const struct ruled *it, json_t *messages)
{
	const struct condition *when =
		it->rule->editor ? it->rule->editor : it->rule->when;
	json_t *message = json_object_get(messages, it->message->name);
	json_t *list, *schema = rule_schema(it, when);

	if (!schema)
		return;
	list = json_object_get(message, "allOf");
	if (!list) {
		list = json_array();
		json_put(message, "allOf", list);
	}
	json_array_append_new(list, schema);
}

static void put_roles(struct ruled *it, json_t *messages)
{
	const char *const *role = rule_roles(it->rule);

	for (; *role; role++) {
		it->role = *role;
		put_rule(it, messages);
	}
}

void json_schema_rules(const struct outline *all, json_t *messages)
{
	const struct field *params =
		field_at(&message_job, "trainingInput.hyperparameters.params");
	struct ruled it = { .all = all };

	for (it.rule = rules; it.rule->id; it.rule++) {
		if ((!it.rule->when && !it.rule->editor) ||
		    it.rule->severity != SEVERITY_ERROR || it.rule->note ||
		    it.rule->dated)
			continue;
		it.role = "";
		it.start = strncmp(it.rule->at, LIST_OF_PARAMETERS,
				   strlen(LIST_OF_PARAMETERS))
				   ? ""
				   : LIST_OF_PARAMETERS;
		it.message = *it.start ? params->message : &message_job;
		put_roles(&it, messages);
	}
}
