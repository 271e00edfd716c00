/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and maps of job files, and their items. */
#include "schema/read/fill_part.h"

#include <string.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/text.h"
#include "schema/yaml/looks.h"
#include "schema/yaml/node.h"
#include "schema/yaml/scalar.h"

/* Writes the words of a text as items of a list: "--epochs 10" gives two. */
static void put_items(const struct field *field, const char *text,
		      struct arena *mem, struct buf *out)
{
	bool numbers = field->type == FIELD_DOUBLES;
	const char *stop = numbers ? " \t\n," : " \t\n";
	const char *first = "";

	for (text += strspn(text, stop); *text; text += strspn(text, stop)) {
		size_t len = strcspn(text, stop), n = len;
		bool last_comma = text[n - 1] == ',' && n > 1;
		const struct node word = {
			.kind = NODE_SCALAR,
			.plain = true,
			.text = arena_strndup(mem, text, n - last_comma),
		};
		const char *quote;

		n -= last_comma;
		quote = !numbers && (strcspn(text, ",[]{}#&*!|>%@`:") < n ||
				     scalar_kind(&word) != SCALAR_TEXT)
				? "\""
				: "";
		if (!numbers && strstr(text, "://"))
			quote = "";
		buf_printf(out, "%s%s%.*s%s", first, quote, (int)n, text,
			   quote);
		first = ", ";
		text += len;
	}
}

/* Whether the value is a list; if not, a problem shows how to write one. */
static bool is_list(struct fill *fill, const struct spot *at)
{
	const struct node *value = at->value;
	struct buf items = { 0 };

	if (value->kind == NODE_LIST)
		return true;
	spot_wrong_type(fill, at, "a list");
	if (looks_hint_of(value) || value->kind == NODE_BAD)
		return false;
	if (value->kind == NODE_MAP) {
		problem_hint(fill->found, "start each item of a list with \"- "
					  "\"");
	} else if (strlen(value->text) < 60 && !strpbrk(value->text, "\"'") &&
		   at->field->type != FIELD_MESSAGES) {
		put_items(at->field, value->text, fill->mem, &items);
		problem_hint(fill->found, "write %s: [%s]", at->field->name,
			     buf_text(&items));
		buf_done(&items);
	}
	return false;
}

/* Whether its items name a variable to take a value from. */
static bool is_secret(const struct field *field)
{
	return field->type == FIELD_NAMED &&
	       message_field(field->message, "env") &&
	       message_field(field->message, "file");
}

/* "scaleTier:BASIC" and "scaleTier = BASIC" are texts. */
static bool is_key_and_value(const char *text)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");

	text += len;
	if (!len)
		return false;
	return (*text == ':' && !text_starts(text, "://")) ||
	       text_starts(text, " = ") || *text == '=';
}

/* A list in the place of a map, as other tools have it: what its first item
 * would be. */
static void hint_list(struct fill *fill, const struct spot *at)
{
	const struct node *first =
		at->value->items ? at->value->items->value : NULL;
	const struct node *name = first ? node_get(first, "name") : NULL;
	const struct node *value = name ? node_get(first, "value") : NULL;
	bool plain = first && first->kind == NODE_SCALAR;
	const char *text = plain ? first->text : "";
	size_t len = strcspn(text, "=");

	if (name && name->kind == NODE_SCALAR && is_secret(at->field))
		problem_hint(fill->found, "write %s: {env: VARIABLE}",
			     name->text);
	else if (value && name->kind == NODE_SCALAR &&
		 value->kind == NODE_SCALAR)
		problem_hint(fill->found, "write %s: %s, without \"- \"",
			     name->text, value->text);
	else if (plain && text[len] && is_secret(at->field))
		problem_hint(fill->found, "write %.*s: {env: VARIABLE}",
			     (int)len, text);
	else if (plain && len && text[len] == '=')
		problem_hint(fill->found, "write %.*s: %s, without \"- \"",
			     (int)len, text, text + len + 1);
	else if (plain && is_secret(at->field))
		problem_hint(fill->found, "write %s: {env: %s}", text, text);
	else if (at->value->length > 1) /* it is in brackets */
		problem_hint(fill->found,
			     "write {KEY: VALUE} in place of [...]");
	else
		problem_hint(fill->found, "write its keys without \"- \"");
}

bool fill_is_map(struct fill *fill, const struct spot *at)
{
	const struct node *value = at->value;

	if (value->kind == NODE_MAP)
		return true;
	spot_wrong_type(fill, at, "a map of keys");
	if (value->kind == NODE_LIST)
		hint_list(fill, at);
	else if (value->kind == NODE_SCALAR && is_secret(at->field))
		problem_hint(fill->found,
			     "a file says where a secret is, not what it is: "
			     "write {env: VARIABLE} or {file: PATH}");
	else if (value->kind == NODE_SCALAR && is_key_and_value(value->text))
		problem_hint(fill->found,
			     "write KEY: VALUE, with a space after the \":\"");
	return false;
}

static bool is_empty_item(struct fill *fill, const struct spot *at)
{
	char name[SHORT_SIZE];

	if (!scalar_is_null(at->value))
		return false;
	problem_add(fill->found, SEVERITY_ERROR, at->value, at->path, "type",
		    "%s is empty", spot_name(at, name));
	problem_hint(fill->found, at->field->type == FIELD_DOUBLES
					  ? "write a number, or leave it out"
					  : "write \"\" for an empty string");
	return true;
}

bool fill_strings(struct fill *fill, const struct spot *at, struct strings *out)
{
	struct path path = { .up = at->path };
	struct spot one = { .field = at->field, .path = &path };
	struct unquoted unquoted = { 0 };
	const struct item *item;

	if (!is_list(fill, at))
		return false;
	out->items =
		arena_alloc(fill->mem, at->value->count * sizeof(*out->items));
	for (item = at->value->items; item; item = item->next, path.index++) {
		const char *text;

		one.value = item->value;
		if (is_empty_item(fill, &one))
			continue;
		text = fill_item(fill, &one, &unquoted);
		if (text)
			out->items[out->count++] = text;
	}
	unquoted_warn(fill, &unquoted, at->value);
	return true;
}

bool fill_doubles(struct fill *fill, const struct spot *at, struct doubles *out)
{
	struct path path = { .up = at->path };
	struct spot one = { .field = at->field, .path = &path };
	const struct item *item;

	if (!is_list(fill, at))
		return false;
	out->items =
		arena_alloc(fill->mem, at->value->count * sizeof(*out->items));
	for (item = at->value->items; item; item = item->next, path.index++) {
		one.value = item->value;
		if (is_empty_item(fill, &one))
			continue;
		if (scalar_double(item->value, &out->items[out->count]))
			out->count++;
		else
			spot_wrong_type(fill, &one, "a number");
	}
	return true;
}

static void check_key(struct fill *fill, const struct spot *at,
		      const struct node *key,
		      int (*check)(const char *, struct error *))
{
	char name[SHORT_SIZE];
	struct error err = { 0 };

	if (!check || check(key->text, &err) == 0)
		return;
	problem_add(fill->found, SEVERITY_ERROR, key, at->path, "format",
		    "key \"%s\" of \"%s\" %s", text_short(key->text, name),
		    at->field->name, err.text);
}

bool fill_pairs(struct fill *fill, const struct spot *at, struct pairs *out)
{
	struct path path = { .up = at->path };
	struct spot one = { .field = at->field, .path = &path };
	struct unquoted unquoted = { 0 };
	const struct item *item;

	if (!fill_is_map(fill, at))
		return false;
	out->items =
		arena_alloc(fill->mem, at->value->count * sizeof(*out->items));
	for (item = at->value->items; item; item = item->next) {
		struct pair *pair = &out->items[out->count];

		path.name = item->key->text;
		one.value = item->value;
		check_key(fill, &one, item->key, at->field->check_key);
		if (is_empty_item(fill, &one))
			continue;
		pair->name = item->key->text;
		pair->value = fill_item(fill, &one, &unquoted);
		out->count += pair->value != NULL;
	}
	unquoted_warn(fill, &unquoted, at->value);
	return true;
}

/* Gives the map that an item stands for which is only the value of its first
 * field. */
static const struct node *in_full(struct fill *fill, const struct field *field,
				  const struct node *value)
{
	struct node *map, *key;
	struct item *item;

	if (!(field->flags & FIELD_SHORT) || value->kind != NODE_SCALAR ||
	    scalar_is_null(value))
		return value;
	map = arena_alloc(fill->mem, sizeof(*map));
	key = arena_alloc(fill->mem, sizeof(*key));
	item = arena_alloc(fill->mem, sizeof(*item));
	*map = *value;
	map->kind = NODE_MAP;
	map->count = 1;
	map->items = item;
	*key = *value;
	key->text = field->message->fields[0].name;
	key->count = (uint32_t)strlen(key->text);
	*item = (struct item){ .key = key, .value = value };
	return map;
}

bool fill_messages(struct fill *fill, const struct spot *at,
		   struct messages *out)
{
	bool named = at->field->type == FIELD_NAMED;
	const struct message *message = at->field->message;
	struct path path = { .up = at->path };
	struct spot one = { .field = at->field, .path = &path };
	const struct item *item;
	char *data;

	if (!(named ? fill_is_map(fill, at) : is_list(fill, at)))
		return false;
	data = arena_alloc(fill->mem, at->value->count * message->size);
	out->items = data;
	for (item = at->value->items; item; item = item->next, path.index++) {
		path.name = named ? item->key->text : NULL;
		one.value = in_full(fill, at->field, item->value);
		if (named)
			check_key(fill, &one, item->key, at->field->check);
		if (!fill_is_map(fill, &one))
			continue;
		if (named)
			memcpy(data + sizeof(struct message_head),
			       &item->key->text, sizeof(item->key->text));
		fill_message(fill, message, one.value, &path, data);
		data += message->size;
		out->count++;
	}
	return true;
}
