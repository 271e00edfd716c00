/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/message.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/units.h"
#include "core/job/traits.h"

/* Compares camel "workerCount" with snake "worker_count" without converting. */
static bool same_name(const char *camel, const char *other)
{
	if (strcmp(camel, other) == 0)
		return true;
	for (; *camel && *other; camel++, other++) {
		if (isupper((unsigned char)*camel)) {
			if (*other++ != '_')
				return false;
			if (tolower((unsigned char)*camel) != *other)
				return false;
		} else if (*camel != *other) {
			return false;
		}
	}
	return !*camel && !*other;
}

const struct field *message_field(const struct message *message,
				  const char *name)
{
	const struct field *field;

	for (field = message->fields; field->name; field++)
		/* Both spellings begin with the same letter, and most names do
		 * not. */
		if (field->name[0] == name[0] && same_name(field->name, name))
			return field;
	return NULL;
}

size_t message_field_count(const struct message *message)
{
	size_t n = 0;

	while (message->fields[n].name)
		n++;
	return n;
}

bool message_has(const struct message *message, const void *data,
		 const char *name)
{
	const struct message_head *head = data;
	const struct field *field = message_field(message, name);

	return field && (head->set >> (field - message->fields) & 1);
}

bool message_refused(const struct message *message, const void *data,
		     const char *name)
{
	const struct message_head *head = data;
	const struct field *field = message_field(message, name);

	return field && (head->refused >> (field - message->fields) & 1);
}

void message_visit(const struct message *message, const void *data,
		   const char *prefix, unsigned traits,
		   bool (*visit)(void *ctx, const char *path, bool honoured),
		   void *ctx)
{
	const struct message_head *head = data;
	const struct field *field;
	char path[256];

	for (field = message->fields; field->name; field++) {
		if (!(head->set >> (field - message->fields) & 1))
			continue;
		snprintf(path, sizeof(path), "%s%s%s", prefix,
			 *prefix ? "." : "", field->name);
		if (visit(ctx, path, traits_have(traits, field->traits)) &&
		    field->type == FIELD_MESSAGE)
			message_visit(field->message,
				      (const char *)data + field->offset, path,
				      traits, visit, ctx);
	}
}

void message_snake_name(const char *name, char *out, size_t size)
{
	size_t n = 0;

	for (; *name && n + 2 < size; name++) {
		if (isupper((unsigned char)*name))
			out[n++] = '_';
		out[n++] = (char)tolower((unsigned char)*name);
	}
	out[n] = '\0';
}

static json_t *integer_json(long value, unsigned flags, unsigned style)
{
	char text[32];

	if (!(flags & FIELD_INT64) || !(style & MESSAGE_WIRE))
		return json_integer(value);
	snprintf(text, sizeof(text), "%ld", value);
	return json_string(text);
}

static json_t *duration_json(long seconds)
{
	char text[32];

	snprintf(text, sizeof(text), "%lds", seconds);
	return json_string(text);
}

static json_t *doubles_json(const struct doubles *list)
{
	json_t *array = list->count ? json_array() : NULL;
	size_t i;

	for (i = 0; i < list->count; i++)
		json_array_append_new(array, json_real(list->items[i]));
	return array;
}

static json_t *pairs_json(const struct pairs *map)
{
	json_t *object = map->count ? json_object() : NULL;
	size_t i;

	for (i = 0; i < map->count; i++)
		json_put_text(object, map->items[i].name, map->items[i].value);
	return object;
}

static void message_list(const struct field *field, const void *member,
			 struct messages *out)
{
	const char *behind = (const char *)member + sizeof(void *);

	if (!(field->flags & FIELD_ARRAY)) {
		*out = *(const struct messages *)member;
		return;
	}
	memcpy(&out->items, member, sizeof(out->items));
	memcpy(&out->count, behind, sizeof(out->count));
}

static json_t *text_json(const struct field *field, const char *text)
{
	if (!text)
		return NULL;
	return field->flags & FIELD_JSON
		       ? json_loads(text, JSON_DECODE_ANY, NULL)
		       : json_text(text);
}

static json_t *tree_json(const char *text)
{
	json_t *tree = text ? json_loads(text, 0, NULL) : NULL;

	if (json_object_size(tree) > 0)
		return tree;
	json_decref(tree);
	return NULL;
}

static json_t *messages_json(const struct field *field, const void *member,
			     unsigned style)
{
	struct messages list;
	size_t at = sizeof(struct message_head);
	json_t *all;
	size_t i;

	message_list(field, member, &list);
	if (!list.count)
		return NULL;
	if (style & MESSAGE_PLAIN)
		at = field->message->key;
	all = field->type == FIELD_NAMED ? json_object() : json_array();
	for (i = 0; i < list.count; i++) {
		const char *item =
			(const char *)list.items + i * field->message->size;
		json_t *one = message_json(field->message, item, style);
		const char *key;

		if (field->type == FIELD_MESSAGES) {
			json_array_append_new(all, one);
			continue;
		}
		memcpy(&key, item + at, sizeof(key));
		json_put(all, key, one);
	}
	return all;
}

bool field_is_boolean(const struct field *field)
{
	return field->type == FIELD_ENUM && field->values &&
	       !strcmp(field->values[0], "false");
}

static json_t *enum_json(const struct field *field, const char *word)
{
	if (field_is_boolean(field) && !strcmp(word, "false"))
		return json_false();
	if (field_is_boolean(field) && !strcmp(word, "true"))
		return json_true();
	return json_text(word);
}

static json_t *message_value(const struct field *field, const void *member,
			     unsigned style)
{
	bool is_int = field->size == sizeof(int);
	const struct strings *list;
	json_t *value;

	switch (field->type) {
	case FIELD_STRING:
		return text_json(field, *(const char *const *)member);
	case FIELD_INT:
		return integer_json(is_int ? *(const int *)member
					   : *(const long *)member,
				    field->flags, style);
	case FIELD_DURATION:
		return duration_json(*(const long *)member);
	case FIELD_DOUBLE:
		return json_real(*(const double *)member);
	case FIELD_BOOL:
		return json_boolean(is_int ? *(const int *)member
					   : *(const bool *)member);
	case FIELD_ENUM:
		return enum_json(field, field->values[*(const int *)member]);
	case FIELD_STRINGS:
		list = member;
		return list->count ? json_texts(list->items, list->count)
				   : NULL;
	case FIELD_DOUBLES:
		return doubles_json(member);
	case FIELD_PAIRS:
		return pairs_json(member);
	case FIELD_TREE:
		return tree_json(*(const char *const *)member);
	case FIELD_MESSAGES:
	case FIELD_NAMED:
		return messages_json(field, member, style);
	case FIELD_MESSAGE:
		value = message_json(field->message, member, style);
		if (json_object_size(value) > 0)
			return value;
		json_decref(value);
		return NULL;
	}
	return NULL;
}

json_t *field_default_json(const struct field *field, const char *text)
{
	struct error ignored;
	long seconds = 0;

	switch (field->type) {
	case FIELD_INT:
		return json_integer(strtol(text, NULL, 10));
	case FIELD_DURATION:
		duration_parse(text, &seconds, &ignored);
		return duration_json(seconds);
	case FIELD_DOUBLE:
		return json_real(strtod(text, NULL));
	case FIELD_BOOL:
		return json_boolean(!strcmp(text, "true"));
	case FIELD_ENUM:
		return enum_json(field, text);
	default:
		return json_text(text);
	}
}

/* Whether the value equals the default that digest 2 assumes. */
static bool is_default(const struct field *field, const json_t *value)
{
	const char *text = field->fallback_2   ? field->fallback_2
			   : field->fallback_1 ? field->fallback_1
					       : field->fallback;
	json_t *frozen;
	bool same;

	if (!text || !*text)
		return false;
	frozen = field_default_json(field, text);
	same = json_equal(frozen, value);
	json_decref(frozen);
	return same;
}

/* An unset message can still have defaults. */
static json_t *unset_value(const struct field *field, const void *member,
			   unsigned style)
{
	if (style & MESSAGE_DIGEST_1) {
		if (field->type == FIELD_MESSAGE && !field->fallback_2)
			return message_value(field, member, style);
		return field->fallback_1
			       ? field_default_json(field, field->fallback_1)
			       : NULL;
	}
	if ((style & MESSAGE_DEFAULTS) &&
	    (field->fallback || field->type == FIELD_MESSAGE ||
	     field->flags & FIELD_PROVIDER))
		return message_value(field, member, style);
	return NULL;
}

static json_t *field_json(const struct field *field, const void *member,
			  bool set, unsigned style)
{
	json_t *value = set ? message_value(field, member, style)
			    : unset_value(field, member, style);

	/* Digest 1 includes the defaults of its own fields, but of no newer
	 * ones. */
	if (value &&
	    ((style & MESSAGE_DIGEST_2) ||
	     ((style & MESSAGE_DIGEST_1) && !field->fallback_1)) &&
	    is_default(field, value)) {
		json_decref(value);
		return NULL;
	}
	return value;
}

static bool is_nothing(const json_t *value)
{
	switch (value ? json_typeof(value) : JSON_NULL) {
	case JSON_NULL:
	case JSON_FALSE:
		return true;
	case JSON_INTEGER:
		return !json_integer_value(value);
	case JSON_ARRAY:
		return !json_array_size(value);
	case JSON_OBJECT:
		return !json_object_size(value);
	default:
		return false;
	}
}

/* Whether an optional field is present. */
static bool is_there(const struct field *field, const json_t *value)
{
	const struct field *row;

	if (field->type != FIELD_MESSAGE)
		return !is_nothing(value);
	for (row = field->message->fields; row->name; row++)
		if ((row->flags & FIELD_REQUIRED) &&
		    is_nothing(json_object_get(value, row->name)))
			return false;
	return true;
}

/* The JSON of a field without a value in a plain struct. */
static json_t *nothing(enum field_type type)
{
	switch (type) {
	case FIELD_STRINGS:
	case FIELD_DOUBLES:
	case FIELD_MESSAGES:
		return json_array();
	case FIELD_PAIRS:
	case FIELD_TREE:
	case FIELD_NAMED:
	case FIELD_MESSAGE:
		return json_object();
	default:
		return json_null();
	}
}

static json_t *plain_json(const struct message *message, const void *data)
{
	json_t *object = json_object();
	const struct field *field;
	json_t *value;

	for (field = message->fields; field->name; field++) {
		if (field->with && !json_object_get(object, field->with))
			continue;
		value = message_value(field, (const char *)data + field->offset,
				      MESSAGE_PLAIN);
		if (!(field->flags & FIELD_OPTIONAL) || is_there(field, value))
			json_put(object, field->name,
				 value ? value : nothing(field->type));
		else
			json_decref(value);
	}
	return object;
}

json_t *message_json(const struct message *message, const void *data,
		     unsigned style)
{
	const struct message_head *head = data;
	const struct field *field;
	char snake[128];
	json_t *object, *value;

	if (style & MESSAGE_PLAIN)
		return plain_json(message, data);
	object = json_object();
	for (field = message->fields; field->name; field++) {
		if (field->flags & FIELD_OUTPUT)
			continue;
		if ((field->flags & FIELD_POSITION) && (style & MESSAGE_DIGEST))
			continue;
		value = field_json(field, (const char *)data + field->offset,
				   head->set >> (field - message->fields) & 1,
				   style);
		if (!value)
			continue;
		if (style & MESSAGE_SNAKE) {
			message_snake_name(field->name, snake, sizeof(snake));
			json_put(object, snake, value);
		} else {
			json_put(object, field->name, value);
		}
	}
	return object;
}
