/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/message.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/units.h"
#include "core/job/traits.h"

/* Compares without making the other spelling: camel "workerCount" against
 * snake "worker_count". */
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
		/* Both spellings begin alike, and most names do not. */
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

void message_unused(const struct message *message, const void *data,
		    const char *prefix, unsigned traits,
		    void (*tell)(void *ctx, const char *path), void *ctx)
{
	const struct message_head *head = data;
	const struct field *field;
	char path[256];

	for (field = message->fields; field->name; field++) {
		if (!(head->set >> (field - message->fields) & 1))
			continue;
		snprintf(path, sizeof(path), "%s%s%s", prefix,
			 *prefix ? "." : "", field->name);
		if (!traits_have(traits, field->traits))
			tell(ctx, path);
		else if (field->type == FIELD_MESSAGE)
			message_unused(field->message,
				       (const char *)data + field->offset, path,
				       traits, tell, ctx);
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

static json_t *messages_json(const struct field *field,
			     const struct messages *list, unsigned style)
{
	json_t *all;
	size_t i;

	if (!list->count)
		return NULL;
	all = field->type == FIELD_NAMED ? json_object() : json_array();
	for (i = 0; i < list->count; i++) {
		const char *item =
			(const char *)list->items + i * field->message->size;
		json_t *one = message_json(field->message, item, style);
		const char *key;

		if (field->type == FIELD_MESSAGES) {
			json_array_append_new(all, one);
			continue;
		}
		memcpy(&key, item + sizeof(struct message_head), sizeof(key));
		json_put(all, key, one);
	}
	return all;
}

static json_t *message_value(const struct field *field, const void *member,
			     unsigned style)
{
	const struct strings *list;
	json_t *value;

	switch (field->type) {
	case FIELD_STRING:
		return *(const char *const *)member
			       ? json_text(*(const char *const *)member)
			       : NULL;
	case FIELD_INT:
		return integer_json(*(const long *)member, field->flags, style);
	case FIELD_DURATION:
		return duration_json(*(const long *)member);
	case FIELD_DOUBLE:
		return json_real(*(const double *)member);
	case FIELD_BOOL:
		return json_boolean(*(const bool *)member);
	case FIELD_ENUM:
		return json_string(field->values[*(const int *)member]);
	case FIELD_STRINGS:
		list = member;
		return list->count ? json_texts(list->items, list->count)
				   : NULL;
	case FIELD_DOUBLES:
		return doubles_json(member);
	case FIELD_PAIRS:
		return pairs_json(member);
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
	default:
		return json_text(text);
	}
}

/* Whether it says no more than digest 2 takes for granted. */
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

/* A message that was not given can still have defaults. */
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

	if (value && (style & MESSAGE_DIGEST_2) && is_default(field, value)) {
		json_decref(value);
		return NULL;
	}
	return value;
}

json_t *message_json(const struct message *message, const void *data,
		     unsigned style)
{
	const struct message_head *head = data;
	json_t *object = json_object();
	const struct field *field;
	char snake[128];
	json_t *value;

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
