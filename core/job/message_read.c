/* SPDX-License-Identifier: Apache-2.0 */
/* Reads plain structs from the JSON that message_json() writes. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/job/message.h"

/* A member of the JSON that is being read into a struct. */
struct reader {
	struct arena *mem;
	struct error *err;
	char path[128]; /* "topology.tasks[1].host" */
};

static int read_object(struct reader *r, const struct message *message,
		       const json_t *value, void *out);

static int must(struct reader *r, const char *what)
{
	return error_set(r->err, ERROR_FAILED, "%s %s", r->path, what);
}

/* Descends to a member or an item; pass the result to leave(). */
static size_t enter(struct reader *r, const char *name)
{
	size_t len = strlen(r->path);

	snprintf(r->path + len, sizeof(r->path) - len, "%s%s", len ? "." : "",
		 name);
	return len;
}

static size_t enter_item(struct reader *r, size_t i)
{
	size_t len = strlen(r->path);

	snprintf(r->path + len, sizeof(r->path) - len, "[%zu]", i);
	return len;
}

static void leave(struct reader *r, size_t len)
{
	r->path[len] = '\0';
}

static int read_text(struct reader *r, const json_t *value, const char **out)
{
	const char *text = json_string_value(value);

	if (!text)
		return must(r, "must be a string");
	*out = arena_strdup(r->mem, text);
	return 0;
}

static int read_tree(struct reader *r, const json_t *value, const char **out)
{
	char *text = json_canonical(value);

	*out = arena_strdup(r->mem, text);
	free(text);
	return 0;
}

static int read_string(struct reader *r, const struct field *field,
		       const json_t *value, const char **out)
{
	if (!(field->flags & FIELD_JSON))
		return read_text(r, value, out);
	return read_tree(r, value, out);
}

static int read_number(struct reader *r, const struct field *field,
		       const json_t *value, void *out)
{
	bool is_int = field->size == sizeof(int);
	bool is_any = !field->min && !field->max;
	long most = !is_any ? field->max : is_int ? INT_MAX : LONG_MAX;
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value))
		return must(r, "must be a whole number");
	if (number < field->min || number > most)
		return error_set(r->err, ERROR_FAILED,
				 "%s must be from %ld to %ld", r->path,
				 field->min, most);
	if (is_int)
		*(int *)out = (int)number;
	else
		*(long *)out = (long)number;
	return 0;
}

static int read_bool(struct reader *r, const struct field *field,
		     const json_t *value, void *out)
{
	if (!json_is_boolean(value))
		return must(r, "must be true or false");
	if (field->size == sizeof(int))
		*(int *)out = json_is_true(value);
	else
		*(bool *)out = json_is_true(value);
	return 0;
}

static int read_enum(struct reader *r, const struct field *field,
		     const json_t *value, int *out)
{
	const char *text = json_string_value(value);
	int i;

	for (i = 0; text && field->values[i]; i++) {
		if (!strcmp(field->values[i], text)) {
			*out = i;
			return 0;
		}
	}
	return error_set(r->err, ERROR_FAILED, "%s is of unknown type '%s'",
			 r->path, text ? text : "");
}

static int read_strings(struct reader *r, const json_t *value,
			struct strings *out)
{
	size_t i, len;

	out->items = arena_alloc(r->mem,
				 json_array_size(value) * sizeof(*out->items));
	for (i = 0; i < json_array_size(value); i++) {
		len = enter_item(r, i);
		if (read_text(r, json_array_get(value, i), &out->items[i]) < 0)
			return -1;
		leave(r, len);
	}
	out->count = i;
	return 0;
}

static int read_doubles(struct reader *r, const json_t *value,
			struct doubles *out)
{
	size_t i, len;

	out->items = arena_alloc(r->mem,
				 json_array_size(value) * sizeof(*out->items));
	for (i = 0; i < json_array_size(value); i++) {
		len = enter_item(r, i);
		if (!json_is_number(json_array_get(value, i)))
			return must(r, "must be a number");
		out->items[i] = json_number_value(json_array_get(value, i));
		leave(r, len);
	}
	out->count = i;
	return 0;
}

static int read_pairs(struct reader *r, json_t *value, struct pairs *out)
{
	const char *name;
	json_t *item;
	size_t len;

	out->items = arena_alloc(r->mem,
				 json_object_size(value) * sizeof(*out->items));
	json_object_foreach(value, name, item)
	{
		struct pair *pair = &out->items[out->count++];

		len = enter(r, name);
		pair->name = arena_strdup(r->mem, name);
		if (read_text(r, item, &pair->value) < 0)
			return -1;
		leave(r, len);
	}
	return 0;
}

static int read_list(struct reader *r, const struct message *message,
		     const json_t *value, char *items)
{
	size_t i, len;

	for (i = 0; i < json_array_size(value); i++) {
		len = enter_item(r, i);
		if (read_object(r, message, json_array_get(value, i),
				items + i * message->size) < 0)
			return -1;
		leave(r, len);
	}
	return 0;
}

static int read_named(struct reader *r, const struct message *message,
		      json_t *value, char *items)
{
	const char *name, *key;
	json_t *item;
	size_t len;

	json_object_foreach(value, name, item)
	{
		len = enter(r, name);
		key = arena_strdup(r->mem, name);
		memcpy(items + message->key, &key, sizeof(key));
		if (read_object(r, message, item, items) < 0)
			return -1;
		leave(r, len);
		items += message->size;
	}
	return 0;
}

static int read_messages(struct reader *r, const struct field *field,
			 json_t *value, void *member)
{
	bool is_named = field->type == FIELD_NAMED;
	size_t count =
		is_named ? json_object_size(value) : json_array_size(value);
	void *items = arena_alloc(r->mem, count * field->message->size);

	if (field->flags & FIELD_ARRAY) {
		memcpy(member, &items, sizeof(items));
		memcpy((char *)member + sizeof(items), &count, sizeof(count));
	} else {
		*(struct messages *)member =
			(struct messages){ .count = count, .items = items };
	}
	return is_named ? read_named(r, field->message, value, items)
			: read_list(r, field->message, value, items);
}

static bool is_list(enum field_type type)
{
	return type == FIELD_STRINGS || type == FIELD_DOUBLES ||
	       type == FIELD_MESSAGES;
}

static int read_value(struct reader *r, const struct field *field,
		      json_t *value, void *member)
{
	if (is_list(field->type) && !json_is_array(value))
		return must(r, "must be a list");
	switch (field->type) {
	case FIELD_STRING:
		return read_string(r, field, value, member);
	case FIELD_INT:
	case FIELD_DURATION:
		return read_number(r, field, value, member);
	case FIELD_DOUBLE:
		if (!json_is_number(value))
			return must(r, "must be a number");
		*(double *)member = json_number_value(value);
		return 0;
	case FIELD_BOOL:
		return read_bool(r, field, value, member);
	case FIELD_ENUM:
		return read_enum(r, field, value, member);
	case FIELD_STRINGS:
		return read_strings(r, value, member);
	case FIELD_DOUBLES:
		return read_doubles(r, value, member);
	case FIELD_MESSAGES:
		return read_messages(r, field, value, member);
	default:
		break;
	}
	if (!json_is_object(value))
		return must(r, "must be an object");
	if (field->type == FIELD_PAIRS)
		return read_pairs(r, value, member);
	if (field->type == FIELD_TREE)
		return read_tree(r, value, member);
	if (field->type == FIELD_NAMED)
		return read_messages(r, field, value, member);
	return read_object(r, field->message, value, member);
}

static int read_field(struct reader *r, const struct field *field,
		      json_t *value, void *member)
{
	json_t *fallback = NULL;
	int ret;

	if (json_is_null(value))
		value = NULL;
	if (!value && field->fallback)
		value = fallback =
			json_loads(field->fallback, JSON_DECODE_ANY, NULL);
	if ((field->flags & FIELD_REQUIRED) &&
	    (!value || (is_list(field->type) && json_is_array(value) &&
			!json_array_size(value))))
		return must(r, "is missing");
	ret = value ? read_value(r, field, value, member) : 0;
	json_decref(fallback);
	return ret;
}

static int read_object(struct reader *r, const struct message *message,
		       const json_t *value, void *out)
{
	const struct field *field;
	size_t len;

	if (!json_is_object(value))
		return must(r, "must be an object");
	for (field = message->fields; field->name; field++) {
		len = enter(r, field->name);
		if (read_field(r, field, json_object_get(value, field->name),
			       (char *)out + field->offset) < 0)
			return -1;
		leave(r, len);
	}
	return 0;
}

int message_read(const struct message *message, const json_t *value,
		 struct arena *mem, void *out, struct error *err)
{
	struct reader r = { .mem = mem, .err = err };

	if (!json_is_object(value))
		return error_set(err, ERROR_FAILED, "%s must be an object",
				 message->name);
	return read_object(&r, message, value, out);
}
