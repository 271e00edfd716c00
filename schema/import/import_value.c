/* SPDX-License-Identifier: Apache-2.0 */
/* Reads values of gcloud's flags, and of the YAML that gcloud read, as JSON. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/job/message.h"
#include "schema/import/import.h"
#include "schema/read/node_reader.h"
#include "schema/yaml/node.h"
#include "schema/problem/problem.h"
#include "schema/yaml/scalar.h"
#include "schema/yaml/source_text.h"
#include "schema/tables/tables.h"

void import_set(json_t *job, const char *path, json_t *value)
{
	const char *dot;

	while ((dot = strchr(path, '.'))) {
		char *word = mem_printf("%.*s", (int)(dot - path), path);

		if (!json_is_object(json_object_get(job, word)))
			json_object_set_new(job, word, json_object());
		job = json_object_get(job, word);
		free(word);
		path = dot + 1;
	}
	json_object_set_new(job, path, value);
}

json_t *import_get(const json_t *job, const char *path)
{
	const char *dot;

	while ((dot = strchr(path, '.'))) {
		char *word = mem_printf("%.*s", (int)(dot - path), path);

		job = json_object_get(job, word);
		free(word);
		path = dot + 1;
	}
	return json_object_get(job, path);
}

/* Finds the delimiter: a comma, or as in "^:^a:b" the one given first. */
static const char *delimiter_of(const char **value, char out[16])
{
	const char *end = **value == '^' ? strchr(*value + 1, '^') : NULL;

	if (!end || end == *value + 1 || end - *value > 15)
		return ",";
	memcpy(out, *value + 1, (size_t)(end - *value) - 1);
	out[end - *value - 1] = '\0';
	*value = end + 1;
	return out;
}

json_t *import_list(const char *value)
{
	char own[16];
	const char *delimiter = delimiter_of(&value, own);
	json_t *list = json_array();

	while (*value) {
		const char *end = strstr(value, delimiter);
		size_t len = end ? (size_t)(end - value) : strlen(value);
		char *item = mem_printf("%.*s", (int)len, value);

		json_array_append_new(list, json_text(item));
		free(item);
		value += len;
		if (end)
			value += strlen(delimiter);
	}
	return list;
}

json_t *import_map(const char *value, struct error *err)
{
	json_t *list = import_list(value), *map = json_object();
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *text = json_string_value(item);
		const char *equals = strchr(text, '=');
		char *key;

		if (!equals) {
			error_set(err, ERROR_USAGE,
				  "'%s' is not of the form KEY=VALUE", text);
			json_decref(map);
			map = NULL;
			break;
		}
		key = mem_printf("%.*s", (int)(equals - text), text);
		json_object_set_new(map, key, json_text(equals + 1));
		free(key);
	}
	json_decref(list);
	return map;
}

json_t *import_enum(const char *value)
{
	char *name = mem_strdup(value), *p;
	json_t *out;

	for (p = name; *p; p++)
		*p = *p == '-' ? '_' : (char)toupper((unsigned char)*p);
	out = json_text(name);
	free(name);
	return out;
}

void import_merge(json_t *under, const json_t *over)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)over, key, value)
	{
		json_t *there = json_object_get(under, key);

		if (json_is_object(there) && json_is_object(value))
			import_merge(there, value);
		else
			json_object_set(under, key, value);
	}
}

static json_t *node_json(const struct node *node)
{
	const struct item *item;
	json_t *out, *value;

	if (node->kind == NODE_SCALAR)
		return scalar_is_null(node) ? NULL : json_text(node->text);
	if (node->kind == NODE_LIST) {
		out = json_array();
		for (item = node->items; item; item = item->next) {
			value = node_json(item->value);
			if (value)
				json_array_append_new(out, value);
		}
		return out;
	}
	out = json_object();
	if (node->kind != NODE_MAP)
		return out;
	for (item = node->items; item; item = item->next) {
		value = node_json(item->value);
		if (!value)
			continue;
		if (json_object_get(out, item->key->text))
			json_decref(value); /* merged: explicit keys win */
		else
			json_object_set_new(out, item->key->text, value);
	}
	return out;
}

json_t *import_read(const char *path, struct problems *found, struct error *err)
{
	struct node_reader *reader;
	struct source_fault fault;
	struct source source;
	struct document doc;
	json_t *out = NULL;
	char *data;
	size_t len;

	data = file_read_argument(path, SOURCE_SIZE_MAX, &len, err);
	if (!data)
		return NULL;
	if (source_init(&source, path, 1, data, len, &fault) < 0) {
		problem_add_at(found, SEVERITY_ERROR, &source, fault.line,
			       fault.column, 1, "encoding", "%s", fault.text);
		goto out;
	}
	reader = node_reader_new(&source, found);
	if (node_reader_next(reader, &doc) > 0) {
		/* Skip a tree that aliases could expand without limit. */
		if (doc.root && doc.root->weight <= NODE_COUNT_MAX)
			out = node_json(doc.root);
		arena_free(doc.mem);
	}
	node_reader_free(reader);
out:
	source_done(&source);
	if (found->errors || !json_is_object(out)) {
		json_decref(out);
		out = NULL;
		error_set(err, ERROR_INVALID, "'%s' is not a map of keys",
			  path);
	}
	return out;
}

static json_t *typed_scalar(const struct field *field, const char *text)
{
	const struct node node = { .kind = NODE_SCALAR,
				   .plain = true,
				   .text = text };
	double real;
	bool yes, odd;
	long whole;

	switch (field->type) {
	case FIELD_INT:
		return scalar_int(&node, &whole, &odd) ? json_integer(whole)
						       : json_text(text);
	case FIELD_DOUBLE:
	case FIELD_DOUBLES:
		if (scalar_int(&node, &whole, &odd))
			return json_integer(whole);
		return scalar_double(&node, &real) ? json_real(real)
						   : json_text(text);
	case FIELD_BOOL:
		return scalar_bool(&node, &yes) ? json_boolean(yes)
						: json_text(text);
	default:
		return json_text(text);
	}
}

static json_t *typed_message(const struct message *message,
			     const json_t *value);

static json_t *typed_value(const struct field *field, const json_t *value)
{
	json_t *out, *item;
	const char *key;
	size_t i;

	if (json_is_string(value))
		return typed_scalar(field, json_string_value(value));
	if (json_is_array(value)) {
		out = json_array();
		json_array_foreach(value, i, item)
			json_array_append_new(out, typed_value(field, item));
		return out;
	}
	if (!json_is_object(value))
		return json_incref((json_t *)value);
	switch (field->type) {
	case FIELD_MESSAGE:
	case FIELD_MESSAGES:
		return typed_message(field->message, value);
	case FIELD_NAMED:
		out = json_object();
		json_object_foreach((json_t *)value, key, item)
			json_object_set_new(
				out, key, typed_message(field->message, item));
		return out;
	default:
		return json_incref((json_t *)value);
	}
}

static json_t *typed_message(const struct message *message, const json_t *value)
{
	json_t *out = json_object();
	const struct field *field;
	const char *key;
	json_t *item;

	if (!json_is_object(value)) {
		json_decref(out);
		return json_incref((json_t *)value);
	}
	for (field = message->fields; field->name; field++)
		json_object_foreach((json_t *)value, key,
				    item) if (message_field(message, key) ==
					      field)
			json_object_set_new(out, field->name,
					    typed_value(field, item));
	/* Unknown keys stay, so that validation reports them. */
	json_object_foreach((json_t *)value, key,
			    item) if (!message_field(message, key))
		json_object_set(out, key, item);
	return out;
}

json_t *import_typed(const json_t *job)
{
	return typed_message(&message_job, job);
}
