/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/read/fill.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/text.h"
#include "schema/read/fill_value.h"
#include "core/base/nearest.h"
#include "schema/yaml/owners.h"
#include "schema/yaml/node.h"
#include "schema/problem/problem.h"
#include "schema/rules/hints.h"
#include "schema/yaml/looks.h"
#include "schema/yaml/scalar.h"

#define FIELDS_MAX 64
#define LIST_MAX 56 /* characters of a list of keys in a hint */

static void set_default(const struct field *field, void *member)
{
	const char *text = field->fallback;
	struct error err;
	int i;

	switch (field->type) {
	case FIELD_STRING:
		*(const char **)member = text;
		break;
	case FIELD_INT:
		*(long *)member = strtol(text, NULL, 10);
		break;
	case FIELD_DURATION:
		fill_parse_duration(text, member, &err);
		break;
	case FIELD_DOUBLE:
		*(double *)member = strtod(text, NULL);
		break;
	case FIELD_BOOL:
		*(bool *)member = !strcmp(text, "true");
		break;
	case FIELD_ENUM:
		for (i = 0; field->values[i]; i++)
			if (!strcmp(field->values[i], text))
				*(int *)member = i;
		break;
	default:
		break;
	}
}

static void set_defaults(const struct message *message, void *data)
{
	const struct field *field;

	for (field = message->fields; field->name; field++) {
		if (field->flags & FIELD_OUTPUT)
			continue;
		if (field->type == FIELD_MESSAGE)
			set_defaults(field->message,
				     (char *)data + field->offset);
		else if (field->fallback)
			set_default(field, (char *)data + field->offset);
	}
}

/* Returns the name of a field of the same message that the key is similar
 * to. */
static const char *near_key(const struct fill *fill,
			    const struct message *message, const char *key)
{
	const char *names[FIELDS_MAX * 2];
	const char *const *others = NULL;
	size_t n;

	for (n = 0; message->fields[n].name; n++)
		names[n] = message->fields[n].name;
	if (fill->other_names)
		others = fill->other_names(fill, message);
	for (; others && *others && n < COUNT(names); others++)
		names[n++] = *others;
	return nearest_name(key, names, n);
}

/* Writes where else the key would be right: "masterConfig (or workerConfig,
 * ...)"; returns false if it belongs nowhere. */
static bool owner_of(const struct fill *fill, const struct message *message,
		     const char *key, struct buf *out)
{
	char owners[4][OWNER_SIZE];
	size_t i, n = message_owners(message, key, owners, COUNT(owners));

	if (!n)
		n = message_owners(fill->root, key, owners, COUNT(owners));
	if (!n && message_field(fill->root, key)) {
		buf_puts(out, "at the top level");
		return true;
	}
	for (i = 0; i < n; i++)
		buf_printf(out,
			   i == 0   ? "under %s"
			   : i == 1 ? " (or %s"
				    : ", %s",
			   owners[i]);
	if (n > 1)
		buf_putc(out, ')');
	return n > 0;
}

/* Adds the keys of a message to a list until it is longer than `limit`; returns
 * how many are left. */
static size_t list_keys(const struct message *message, size_t limit,
			struct buf *out)
{
	const struct field *field;
	size_t left = 0;

	for (field = message->fields; field->name; field++) {
		if (field->flags & FIELD_OUTPUT)
			continue;
		if (left || out->len + strlen(field->name) > limit)
			left++;
		else
			buf_printf(out, "%s%s", out->len ? ", " : "",
				   field->name);
	}
	return left;
}

/* Hints at the keys of the message at the path: all if they fit on a line, else
 * some, and where they are listed. */
static void hint_keys(struct fill *fill, const struct message *message,
		      const struct path *path)
{
	const char *names[8];
	struct buf keys = { 0 }, text = { 0 };
	size_t n = 0, left = list_keys(message, LIST_MAX, &keys);

	for (; path && n < COUNT(names); path = path->up)
		if (path->name)
			names[n++] = path->name;
	while (n--)
		buf_printf(&text, "%s%s", text.len ? "." : "", names[n]);
	if (!left) {
		problem_hint(fill->found, "keys here: %s", buf_text(&keys));
	} else if (!strpbrk(buf_text(&text), " '\"$\\")) {
		buf_clear(&keys);
		left = list_keys(message, LIST_MAX / 2, &keys);
		problem_hint(fill->found,
			     "keys here: %s and %zu more: 'jobrun explain "
			     "%s'",
			     buf_text(&keys), left, buf_text(&text));
	}
	buf_done(&keys);
	buf_done(&text);
}

static void add_strange(struct fill *fill, const struct message *message,
			const struct node *key, const struct path *path)
{
	char shown[SHORT_SIZE];

	problem_add(fill->found, SEVERITY_ERROR, key, path, "unknown-key",
		    "unknown key \"%s\"", text_short(key->text, shown));
	if (message == fill->root)
		problem_hint(fill->found,
			     "a key of your own, to hold an anchor, must start "
			     "with x-");
	else
		hint_keys(fill, message, path->up);
}

/* Returns the last name of the path that a key means, if that is a key of the
 * same map: "masterType" for "trainingInput.masterType". */
static const char *meant_here(const struct path *path, const char *meant)
{
	const char *dot = strrchr(meant, '.');
	size_t len = dot ? (size_t)(dot - meant) : 0, n;

	for (path = path->up; path; path = path->up) {
		n = path->name ? strlen(path->name) : 0;
		if (n > len || !n || memcmp(meant + len - n, path->name, n))
			return NULL;
		len -= n;
		if (len && meant[--len] != '.')
			return NULL;
	}
	return len ? NULL : dot ? dot + 1 : meant;
}

/* Whether the map already has the key that this one would be changed to. */
static bool is_taken(const struct message *message,
		     const struct message_head *head, const struct node *key,
		     const char *name)
{
	const struct field *field = message_field(message, name);
	const struct item *item = head->node->items;

	if (field && head->refused >> (field - message->fields) & 1)
		return true;
	for (; item; item = item->next)
		if (item->key != key &&
		    (!strcmp(item->key->text, name) ||
		     (field &&
		      message_field(message, item->key->text) == field)))
			return true;
	return false;
}

/* Reports an unknown key; returns the field that was meant, if that is
 * clear. */
static const struct field *unknown_key(struct fill *fill,
				       const struct message *message,
				       const struct node *key,
				       const struct path *path,
				       const struct message_head *head)
{
	struct buf owner = { 0 };
	const char *near = NULL, *other = hint_key(key->text);
	char shown[SHORT_SIZE], foreign[LOOKS_SIZE];

	text_short(key->text, shown);
	if (other)
		near = meant_here(path, other);
	if (!problems_is_full(fill->found) && other)
		problem_add(fill->found, SEVERITY_ERROR, key, path,
			    "unknown-key",
			    "unknown key \"%s\"; jobrun calls it \"%s\"", shown,
			    other);
	else if (!problems_is_full(fill->found) &&
		 owner_of(fill, message, key->text, &owner))
		problem_add(fill->found, SEVERITY_ERROR, key, path,
			    "unknown-key",
			    "unknown key \"%s\" here: it belongs %s", shown,
			    owner.data);
	else if (!problems_is_full(fill->found) &&
		 (near = near_key(fill, message, key->text)))
		problem_add(fill->found, SEVERITY_ERROR, key, path,
			    "unknown-key",
			    "unknown key \"%s\"; did you mean \"%s\"?", shown,
			    near);
	else
		add_strange(fill, message, key, path);
	if (near && looks_foreign(key->text, foreign))
		problem_hint(fill->found, "%s", foreign);
	if (near && !is_taken(message, head, key, near))
		problem_respell(fill->found, key, near);
	buf_done(&owner);
	return near ? message_field(message, near) : NULL;
}

static const struct field *other_key(struct fill *fill,
				     const struct message *message,
				     const struct item *item,
				     const struct path *path, void *data)
{
	struct path here = { .up = path, .name = item->key->text };
	const struct field *meant;

	if (fill->other_key &&
	    fill->other_key(fill, message, item->key, item->value, &here, data))
		return NULL;
	meant = unknown_key(fill, message, item->key, &here, data);
	if (!meant)
		((struct message_head *)data)->strange = true;
	return meant;
}

static void same_field(struct fill *fill, const struct node *key,
		       const struct node *first, const struct path *path)
{
	struct path here = { .up = path, .name = key->text };

	problem_add(fill->found, SEVERITY_ERROR, key, &here, "duplicate-key",
		    "duplicate key: \"%s\" names the same field as \"%s\" at "
		    "line %u",
		    key->text, first->text, first->line);
	problem_also(fill->found, first, "first given here");
	problem_hint(fill->found, "remove one of the two");
}

/* Returns the field's name for no value, or NULL. */
static const char *none_of(const struct field *field)
{
	if (field->values && text_ends(field->values[0], "_UNSPECIFIED"))
		return field->values[0];
	return field->unspecified;
}

static bool is_unspecified(const struct field *field, const struct node *value)
{
	return none_of(field) && value->kind == NODE_SCALAR &&
	       !strcasecmp(value->text, none_of(field));
}

/* In the service's JSON, null means that a field is not given. */
static bool is_none(const struct field *field, const struct node *value)
{
	return scalar_is_null(value) || is_unspecified(field, value);
}

/* Returns true if the field was given and accepted. */
static bool fill_item(struct fill *fill, const struct field *field,
		      const struct item *item, const struct path *path,
		      void *data)
{
	struct path here = { .up = path, .name = field->name };
	struct spot at = { field, item->value, &here, item->key };

	if (field->flags & FIELD_OUTPUT) {
		problem_add(fill->found, SEVERITY_WARNING, item->key, &here,
			    "output-only",
			    "\"%s\" has no effect here: the service sets it",
			    field->name);
		return false;
	}
	if (is_unspecified(field, item->value) &&
	    !(field->flags & FIELD_REQUIRED))
		problem_add(fill->found, SEVERITY_WARNING, item->value, &here,
			    "enum-unspecified",
			    "\"%s\" %s means none, as if it were absent",
			    field->name, none_of(field));
	if (item->value->kind == NODE_BAD || is_none(field, item->value))
		return false;
	return fill_field(fill, &at, (char *)data + field->offset);
}

/* Returns the bit of a field in a message's head, 0 for no field. */
static uint64_t bit_of(const struct message *message, const struct field *field)
{
	return field ? (uint64_t)1 << (field - message->fields) : 0;
}

/* Returns where a map lacks a key: at the key of the map itself, unless that
 * would hide where an alias brought the map from. */
static const struct node *place_of(const struct spot *at)
{
	const struct node *map = at->value;

	return at->key && !map->anchor && !map->origin->has_aliases ? at->key
								    : map;
}

/* Hints at what a required field is for, and its values if they are few. */
static void hint_required(struct fill *fill, const struct field *field)
{
	const char *const *value = field->values;
	struct buf values = { 0 };

	if (value && none_of(field))
		value++;
	for (; value && *value; value++)
		buf_printf(&values, "%s%s", values.len ? ", " : " (", *value);
	problem_hint(fill->found, "%s%s%s: %s", field->name, buf_text(&values),
		     values.len ? ")" : "", field->doc);
	buf_done(&values);
}

static void check_required(struct fill *fill, const struct message *message,
			   const struct message_head *head,
			   const struct spot *at,
			   const struct node *const *keys)
{
	uint64_t given = head->set | head->refused;
	const struct field *field, *other;

	for (field = message->fields; field->name; field++) {
		const struct node *none = keys[field - message->fields];
		struct path here = { .up = at->path, .name = field->name };

		other = field->unless ? message_field(message, field->unless)
				      : NULL;
		if (!(field->flags & FIELD_REQUIRED) ||
		    given & (bit_of(message, field) | bit_of(message, other)))
			continue;
		if (none)
			problem_add(fill->found, SEVERITY_ERROR, none, &here,
				    "required",
				    "\"%s\" is required, but has no value here",
				    field->name);
		else
			problem_add(fill->found, SEVERITY_ERROR, place_of(at),
				    at->path, "required",
				    "\"%s\" is required here", field->name);
		hint_required(fill, field);
	}
}

void fill_keys(struct fill *fill, const struct message *message,
	       const struct spot *at, void *data)
{
	const struct node *keys[FIELDS_MAX] = { NULL }, *map = at->value;
	const struct path *path = at->path;
	struct message_head *head = data;
	const struct field *field;
	const struct item *item;
	size_t i;

	head->node = map;
	if (!map || map->kind != NODE_MAP)
		return;
	for (item = map->items; item; item = item->next) {
		field = message_field(message, item->key->text);
		if (!field) {
			/* A misspelt key must not be reported as missing,
			 * too. */
			field = other_key(fill, message, item, path, data);
			if (field) {
				keys[field - message->fields] = item->key;
				head->refused |= bit_of(message, field);
			}
			continue;
		}
		i = (size_t)(field - message->fields);
		if (keys[i] && item->merged)
			continue;
		if (keys[i]) {
			same_field(fill, item->key, keys[i], path);
			continue;
		}
		keys[i] = item->key;
		if (fill_item(fill, field, item, path, data))
			head->set |= bit_of(message, field);
		else if (!is_none(field, item->value))
			head->refused |= bit_of(message, field);
	}
	check_required(fill, message, head, at, keys);
}

void fill_message(struct fill *fill, const struct message *message,
		  const struct node *map, const struct path *path, void *data)
{
	const struct spot at = { .value = map, .path = path };

	set_defaults(message, data);
	fill_keys(fill, message, &at, data);
}
