/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/describe/json_schema.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "schema/describe/json_schema_rules.h"
#include "schema/tables/forms.h"
#include "schema/tables/tables.h"

#define NUMBER_PATTERN "^[-+]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][-+]?[0-9]+)?$"
#define BOOL_PATTERN                                                           \
	"^(true|True|TRUE|false|False|FALSE|yes|Yes|YES|no|No|NO|on|On|ON|"    \
	"off|"                                                                 \
	"Off|OFF)$"
/* The form of durations in fields without a form of their own; it sets no
 * limits. */
#define DURATION_PATTERN                                                       \
	"^(?=[0-9])([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+(\\.[0-9]+)?s|[0-9]+)" \
	"?$"

/*
 * The relations between fields of one message that a JSON Schema can state.
 * Other rules of rules.c reach further, or depend on where the job runs.
 */
static const struct {
	const char *message;
	const char *schema;
} between[] = {
	{ "Secret", "{\"oneOf\":[{\"required\":[\"env\"]},"
		    "{\"required\":[\"file\"]}]}" },
};

/* Returns the names, which end with NULL, as a list of JSON types. */
static json_t *types(const char *const *names)
{
	json_t *list = json_array();

	for (; *names; names++)
		json_array_append_new(list, json_string(*names));
	return list;
}

/* Adds the types of a text field: string, and the types that YAML gives to text
 * without quotes. */
static void put_text_types(const struct form *form, json_t *out)
{
	const char *names[4] = { "string" };
	size_t n = 1;

	if (!form || form->number)
		names[n++] = form ? form->number : "number";
	if (!form || form->boolean)
		names[n++] = "boolean";
	json_put(out, "type", types(names));
}

static bool must_be_given(const struct field *field)
{
	return field->flags & FIELD_REQUIRED && !field->unless;
}

/* Returns a pattern for the values in any case, which are read with a
 * warning. */
static char *any_case(const struct field *field)
{
	const char *const *values = field->values, *const * value;
	struct buf text = { 0 };
	const char *p;

	buf_puts(&text, "^(");
	/* A required field cannot have the name that means no value. */
	if (must_be_given(field) && outline_is_unspecified(*values))
		values++;
	for (value = values; *value; value++) {
		buf_puts(&text, text.len == 2 ? "" : "|");
		for (p = *value; *p; p++) {
			if (isalpha((unsigned char)*p))
				buf_printf(&text, "[%c%c]",
					   toupper((unsigned char)*p),
					   tolower((unsigned char)*p));
			else
				buf_putc(&text, *p);
		}
	}
	buf_puts(&text, ")$");
	return buf_take(&text);
}

/* A boolean in quotes, which is read with a warning. */
static json_t *bool_text(void)
{
	return json_pack("{s:s,s:s}", "type", "string", "pattern",
			 BOOL_PATTERN);
}

static void put_values(const struct field *field, bool exact, json_t *out)
{
	json_t *names = json_array(), *either = json_array();
	json_t *offered = json_object(), *other = json_object();
	const char *const *value;
	char *pattern;

	if (field_is_boolean(field)) {
		json_array_append_new(names, json_false());
		json_array_append_new(names, json_true());
		json_array_append_new(either, bool_text());
	}
	for (value = field->values + json_array_size(names); *value; value++)
		if (!outline_is_unspecified(*value))
			json_array_append_new(names, json_string(*value));
	if (exact) {
		json_put(out, "enum", names);
		json_decref(either);
		json_decref(offered);
		json_decref(other);
		return;
	}
	json_put(offered, "enum", names);
	pattern = any_case(field);
	json_put_text(other, "type", "string");
	json_put_text(other, "pattern", pattern);
	free(pattern);
	json_array_insert_new(either, 0, offered);
	json_array_append_new(either, other);
	json_put(out, "anyOf", either);
}

static void put_string(const struct field *field, bool example, json_t *out)
{
	const struct form *form = form_of(field->check);

	put_text_types(form, out);
	if (!form)
		return;
	json_put_text(out, "pattern", form->pattern);
	if (form->example && example)
		json_put(out, "examples", json_pack("[s]", form->example));
}

static void put_int(const struct field *field, json_t *out)
{
	static const char *const names[] = { "integer", "string", NULL };

	json_put(out, "type", types(names));
	json_put_int(out, "minimum", field->min);
	if (field->max)
		json_put_int(out, "maximum", field->max);
	json_put_text(out, "pattern",
		      field->min == 1   ? "^\\+?0*[1-9][0-9]*(\\.0*)?$"
		      : field->min >= 0 ? "^[-+]?0+$|^\\+?[0-9]+(\\.0*)?$"
					: "^[-+]?[0-9]+(\\.0*)?$");
}

static void put_duration(const struct field *field, json_t *out)
{
	static const char *const plain[] = { "string", "integer", NULL };
	static const char *const strict[] = { "string", NULL };
	const struct form *form = form_of(field->check);

	json_put(out, "type", types(form ? strict : plain));
	json_put_text(out, "pattern", form ? form->pattern : DURATION_PATTERN);
	json_put(out, "examples",
		 json_pack("[s]", form ? form->example : "90s"));
	if (!form)
		json_put_int(out, "minimum", 0);
}

static void put_double(json_t *out)
{
	static const char *const names[] = { "number", "string", NULL };

	json_put(out, "type", types(names));
	json_put_text(out, "pattern", NUMBER_PATTERN);
}

static void put_bool(json_t *out)
{
	json_put(out, "anyOf",
		 json_pack("[{s:s},o]", "type", "boolean", bool_text()));
}

/* Describes an object with any keys; `items` (taken) is the schema of the
 * values. */
static void put_map(int (*check)(const char *, struct error *), json_t *items,
		    json_t *out)
{
	const struct form *form = form_of(check);

	json_put_text(out, "type", "object");
	if (form)
		json_put(out, "propertyNames",
			 json_pack("{s:s}", "pattern", form->pattern));
	json_put(out, "additionalProperties", items);
}

static void put_list(json_t *items, json_t *out)
{
	json_put(out, "type", json_pack("[s]", "array"));
	json_put(out, "items", items);
}

static json_t *reference(const struct message *message)
{
	json_t *out = json_object();
	char *name = mem_printf("#/$defs/%s", message->name);

	json_put_text(out, "$ref", name);
	free(name);
	return out;
}

/* An item in full, or the value of its first field, a string. */
static json_t *item_or_short(const struct message *message)
{
	json_t *value = json_object();

	put_string(&message->fields[0], false, value);
	return json_pack("{s:[o,o]}", "anyOf", reference(message), value);
}

static void put_type(const struct field *field, json_t *out)
{
	json_t *items = json_object();
	bool exact = field->flags & FIELD_PROVIDER;

	switch (field->type) {
	case FIELD_STRING:
	case FIELD_ENUM:
		if (field->flags & FIELD_JSON)
			json_put_text(out, "type", "object");
		else if (field->values)
			put_values(field, exact, out);
		else
			put_string(field, true, out);
		break;
	case FIELD_INT:
		put_int(field, out);
		break;
	case FIELD_DURATION:
		put_duration(field, out);
		break;
	case FIELD_DOUBLE:
		put_double(out);
		break;
	case FIELD_BOOL:
		put_bool(out);
		break;
	case FIELD_STRINGS:
		put_string(field, false, items);
		put_list(json_incref(items), out);
		if (field->flags & FIELD_SINGLE)
			json_array_append_new(json_object_get(out, "type"),
					      json_string("string"));
		break;
	case FIELD_DOUBLES:
		put_double(items);
		put_list(json_incref(items), out);
		break;
	case FIELD_PAIRS:
		put_string(field, false, items);
		put_map(field->check_key, json_incref(items), out);
		break;
	case FIELD_TREE:
		json_put_text(out, "type", "object");
		break;
	case FIELD_MESSAGE:
		json_object_update_new(out, reference(field->message));
		break;
	case FIELD_MESSAGES:
		put_list(field->flags & FIELD_SHORT
				 ? item_or_short(field->message)
				 : reference(field->message),
			 out);
		break;
	case FIELD_NAMED:
		put_map(field->check, reference(field->message), out);
		break;
	}
	json_decref(items);
}

static json_t *field_schema(const struct field *field)
{
	json_t *out = json_object();

	json_put_text(out, "description", field->doc);
	if (field->flags & FIELD_OUTPUT) {
		json_put(out, "readOnly", json_true());
		return out;
	}
	if (field->deprecated) {
		json_put(out, "deprecated", json_true());
		json_put_text(out, "deprecationMessage", field->deprecated);
	}
	put_type(field, out);
	if (field->fallback)
		json_put(out, "default",
			 field->type == FIELD_DURATION
				 ? json_string(field->fallback)
				 : field_default_json(field, field->fallback));
	return out;
}

/* What the service alone sets is read with a warning. */
static bool is_quiet(const struct field *field)
{
	return field->flags & FIELD_OUTPUT;
}

/* Describes a key by a pattern: allows it, but does not suggest it. */
static void put_quietly(const char *name, json_t *schema, json_t *patterns)
{
	char *key = mem_printf("^%s$", name);

	json_put(patterns, key, schema);
	free(key);
}

/* Allows the other spelling of a field, alone. */
static void put_snake(const struct message *message, const struct field *field,
		      const char *snake, json_t *patterns, json_t *rules)
{
	char *ref = mem_printf("#/$defs/%s/properties/%s", message->name,
			       field->name);

	put_quietly(snake,
		    is_quiet(field) ? field_schema(field)
				    : json_pack("{s:s}", "$ref", ref),
		    patterns);
	json_array_append_new(rules, json_pack("{s:{s:s,s:[s,s]}}", "not",
					       "type", "object", "required",
					       field->name, snake));
	free(ref);
}

/* Returns a schema for jobs that extend a file: it may have what this one
 * lacks. */
static json_t *extends_something(void)
{
	return json_pack("{s:[s],s:{s:{s:s,s:[s]}}}", "required", "jobrun",
			 "properties", "jobrun", "type", "object", "required",
			 "extends");
}

/* Adds the alternative that the field is given, with a real value. */
static void put_either(const struct field *field, const char *name,
		       json_t *either)
{
	json_t *none = json_array();

	if (field->type == FIELD_ENUM)
		json_array_append_new(none, json_string(field->values[0]));
	json_array_append_new(either, json_pack("{s:[s],s:{s:{s:{s:o}}}}",
						"required", name, "properties",
						name, "not", "enum", none));
}

static void put_required(const struct message *message,
			 const struct field *field, const char *snake, bool two,
			 json_t *required, json_t *rules)
{
	const struct field *unless =
		field->unless ? message_field(message, field->unless) : NULL;
	char other[OUTLINE_TYPE_SIZE];
	json_t *either;

	if (!two && !unless) {
		json_array_append_new(required, json_string(field->name));
		return;
	}
	either = json_array();
	put_either(field, field->name, either);
	if (two)
		put_either(field, snake, either);
	if (unless) {
		put_either(unless, unless->name, either);
		message_snake_name(unless->name, other, sizeof(other));
		put_either(unless, other, either);
	}
	json_array_append_new(rules, json_pack("{s:o}", "anyOf", either));
}

static void put_training_required(json_t *rules)
{
	json_t *either =
		json_pack("[{s:[s]},{s:[s]}]", "required", "trainingInput",
			  "required", "training_input");

	json_array_append_new(either, extends_something());
	json_array_append_new(rules, json_pack("{s:o}", "anyOf", either));
}

static void put_between(const struct message *message, json_t *rules)
{
	size_t i;

	for (i = 0; i < COUNT(between); i++)
		if (!strcmp(between[i].message, message->name))
			json_array_append_new(
				rules, json_loads(between[i].schema, 0, NULL));
}

static void put_unless_empty(json_t *out, const char *key, json_t *value)
{
	if (json_is_array(value) && !json_array_size(value))
		json_decref(value);
	else
		json_put(out, key, value);
}

static json_t *message_schema(const struct outline *all,
			      const struct message *message)
{
	struct field fields[OUTLINE_FIELDS_MAX];
	size_t i, n = outline_fields(all, message, fields);
	json_t *properties = json_object(), *patterns = json_object();
	json_t *required = json_array(), *rules = json_array();
	json_t *out = json_object();
	char snake[OUTLINE_TYPE_SIZE];

	for (i = 0; i < n; i++) {
		bool two;

		message_snake_name(fields[i].name, snake, sizeof(snake));
		two = strcmp(snake, fields[i].name) != 0;
		if (is_quiet(&fields[i]))
			put_quietly(fields[i].name, field_schema(&fields[i]),
				    patterns);
		else
			json_put(properties, fields[i].name,
				 field_schema(&fields[i]));
		if (two)
			put_snake(message, &fields[i], snake, patterns, rules);
		if (fields[i].message == &message_training_input)
			put_training_required(rules);
		else if (fields[i].flags & FIELD_REQUIRED)
			put_required(message, &fields[i], snake, two, required,
				     rules);
	}
	put_between(message, rules);
	/* Readers of YAML that do not merge keys themselves see "<<". */
	json_put(patterns, "^<<$", json_true());
	if (message == &message_job)
		json_put(patterns, "^x-", json_true());
	json_put_text(out, "title", message->name);
	json_put_text(out, "description", message->doc);
	json_put_text(out, "type", "object");
	json_put(out, "properties", properties);
	json_put(out, "patternProperties", patterns);
	json_put(out, "additionalProperties", json_false());
	put_unless_empty(out, "required", required);
	put_unless_empty(out, "allOf", rules);
	return out;
}

static void put_messages(const struct outline *all,
			 const struct message *message, json_t *out)
{
	struct field fields[OUTLINE_FIELDS_MAX];
	size_t i, n = outline_fields(all, message, fields);

	if (json_object_get(out, message->name))
		return;
	json_put(out, message->name, message_schema(all, message));
	for (i = 0; i < n; i++) {
		const struct message *below = outline_below(&fields[i]);

		if (below)
			put_messages(all, below, out);
	}
}

json_t *json_schema(const struct outline *all, const char *version)
{
	json_t *out = json_object(), *messages = json_object();
	char *id = mem_printf("urn:jobrun:schema:job:%s", version);

	json_put_text(out, "$schema",
		      "https://json-schema.org/draft/2020-12/schema");
	json_put_text(out, "$id", id);
	json_put_text(out, "title", "jobrun job file");
	json_put_text(out, "description",
		      "A training job, as jobrun reads it: see "
		      "jobrun-job(5).");
	json_put_text(out, "$ref", "#/$defs/Job");
	json_put_text(out, "type", "object");
	put_messages(all, &message_job, messages);
	json_schema_rules(all, messages);
	json_put(out, "$defs", messages);
	free(id);
	return out;
}
