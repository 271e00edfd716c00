/* SPDX-License-Identifier: Apache-2.0 */
#include "core/job/body.h"

#include <stdio.h>
#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/base/nearest.h"

#define TYPE_SIZE 64
#define PATH_MAX_SIZE 512
#define FIELDS_MAX 80
#define DIRECTIVE "$patch"

/* ---- types ------------------------------------------------------------- */

static const struct body_type *type_of(const struct body_types *types,
				       const char *name)
{
	size_t i;

	for (i = 0; i < types->count; i++)
		if (!strcmp(types->items[i].name, name))
			return &types->items[i];
	return NULL;
}

/* Finds the type of a field; false: there is no field of that name. */
static bool field_type(const struct body_type *type, const char *name,
		       char out[TYPE_SIZE])
{
	size_t wanted = strlen(name), len, all;
	const char *word;

	for (word = type->fields; *word; word += all + (word[all] == ' ')) {
		all = strcspn(word, " ");
		len = strcspn(word, " :");
		if (len != wanted || strncmp(word, name, len) != 0)
			continue;
		if (word[len] == ':')
			snprintf(out, TYPE_SIZE, "%.*s", (int)(all - len - 1),
				 word + len + 1);
		else
			strcpy(out, "s");
		return true;
	}
	return false;
}

/* Extracts the type between the brackets of a list or a map. */
static void inner_type(const char *type, char out[TYPE_SIZE])
{
	snprintf(out, TYPE_SIZE, "%.*s", (int)strcspn(type + 1, "]}"),
		 type + 1);
}

/* The key by which items of a list are merged, or NULL. */
static const char *merge_key(const char *type)
{
	const char *at = strchr(type, '@');

	return at ? at + 1 : NULL;
}

/* The type of a member of a map or a type; "*" if unknown. */
static void member_type(const struct body_form *form, const char *type,
			const char *name, char out[TYPE_SIZE])
{
	const struct body_type *named = type_of(form->types, type);

	if (*type == '{')
		inner_type(type, out);
	else if (!named || !field_type(named, name, out))
		strcpy(out, "*");
}

/* ---- checking ---------------------------------------------------------- */

struct body_walk {
	const struct body_form *form;
	tree_tell *tell;
	void *ctx;
	char path[PATH_MAX_SIZE];  /* "spec.containers[0].image" */
	char keyed[PATH_MAX_SIZE]; /* "spec.containers[main].image" */
};

static void check_value(struct body_walk *walk, const char *type,
			const json_t *value, const char *name);

static const struct body_owned *owner_of(const struct body_walk *walk)
{
	const struct body_owned *row;

	for (row = walk->form->owned; row->path; row++) {
		size_t len = strcspn(row->path, "*");

		if (!strncmp(row->path, walk->keyed, len) &&
		    (row->path[len] || !walk->keyed[len]))
			return row;
	}
	return NULL;
}

/* Descends one step, and checks the value there unless jobrun sets it
 * itself. */
static void go(struct body_walk *walk, const char *step, const char *keyed,
	       const char *type, const json_t *value, const char *name)
{
	size_t path = strlen(walk->path), key = strlen(walk->keyed);
	const struct body_owned *owner;
	char text[TYPE_SIZE * 2];

	snprintf(walk->path + path, sizeof(walk->path) - path, "%s", step);
	snprintf(walk->keyed + key, sizeof(walk->keyed) - key, "%s", keyed);
	owner = owner_of(walk);
	if (owner) {
		snprintf(text, sizeof(text), "jobrun sets %.100s itself", name);
		walk->tell(walk->ctx, walk->path, text, owner->instead);
	} else {
		check_value(walk, type, value, name);
	}
	walk->path[path] = '\0';
	walk->keyed[key] = '\0';
}

static void tell_unknown(struct body_walk *walk, const struct body_type *type,
			 const char *name)
{
	struct arena *mem = arena_new();
	const char *names[FIELDS_MAX], *near, *word = type->fields;
	size_t path = strlen(walk->path), n = 0;

	for (; *word && n < COUNT(names); word += strcspn(word, " ")) {
		word += *word == ' ';
		names[n++] = arena_strndup(mem, word, strcspn(word, " :"));
	}
	near = nearest_name(name, names, n);
	snprintf(walk->path + path, sizeof(walk->path) - path, "%s%s",
		 path ? "." : "", name);
	walk->tell(walk->ctx, walk->path,
		   arena_printf(mem, "%s has no field \"%.60s\"", type->name,
				name),
		   near ? arena_printf(mem, "did you mean \"%s\"?", near)
			: NULL);
	walk->path[path] = '\0';
	arena_free(mem);
}

static void check_members(struct body_walk *walk, const char *type,
			  const json_t *value)
{
	const struct body_type *named = type_of(walk->form->types, type);
	char below[TYPE_SIZE], step[PATH_MAX_SIZE];
	const char *name;
	json_t *member;

	json_object_foreach((json_t *)value, name, member)
	{
		if (!strcmp(name, DIRECTIVE))
			continue;
		if (named && !field_type(named, name, below)) {
			tell_unknown(walk, named, name);
			continue;
		}
		member_type(walk->form, type, name, below);
		snprintf(step, sizeof(step), "%s%s", *walk->path ? "." : "",
			 name);
		go(walk, step, step, below, member, name);
	}
}

static void check_items(struct body_walk *walk, const char *type,
			const json_t *value, const char *name)
{
	const char *key = merge_key(type);
	char below[TYPE_SIZE], step[32], keyed[TYPE_SIZE * 2];
	const json_t *item;
	size_t i;

	inner_type(type, below);
	json_array_foreach(value, i, item)
	{
		const json_t *id = key ? json_object_get(item, key) : NULL;

		snprintf(step, sizeof(step), "[%zu]", i);
		snprintf(keyed, sizeof(keyed), "[%.100s]",
			 key && *key == '#'   ? "#"
			 : json_is_string(id) ? json_string_value(id)
					      : "");
		if (key && *key != '#' && !id && json_is_object(item)) {
			snprintf(keyed, sizeof(keyed),
				 "an item of \"%.40s\" needs \"%.40s\"", name,
				 key);
			walk->tell(walk->ctx, walk->path, keyed, NULL);
			continue;
		}
		go(walk, step, keyed, below, item, name);
	}
}

/* What a value must be to have that type, or NULL if it has it. */
static const char *wanted(const char *type, const json_t *value)
{
	switch (*type) {
	case 's':
		return json_is_string(value) ? NULL : "a string: quote it";
	case 'i':
		return json_is_integer(value) ? NULL : "a whole number";
	case 'b':
		return json_is_boolean(value) ? NULL : "true or false";
	case 'n':
		return json_is_number(value) ? NULL : "a number";
	case 'w':
		return json_is_string(value) || json_is_integer(value)
			       ? NULL
			       : "a string or a whole number";
	case 'q':
		return json_is_string(value) || json_is_number(value)
			       ? NULL
			       : "a quantity, as 2, 500m or 16Gi";
	case '*':
		return NULL;
	case '[':
		return json_is_array(value) ? NULL : "a list";
	default:
		return json_is_object(value) ? NULL : "a map of keys";
	}
}

static void check_value(struct body_walk *walk, const char *type,
			const json_t *value, const char *name)
{
	const char *what = json_is_null(value) ? NULL : wanted(type, value);
	char text[TYPE_SIZE * 3];

	if (what) {
		snprintf(text, sizeof(text), "\"%.80s\" must be %s", name,
			 what);
		walk->tell(walk->ctx, walk->path, text, NULL);
	} else if (*type == '[') {
		check_items(walk, type, value, name);
	} else if (json_is_object(value)) {
		check_members(walk, type, value);
	}
}

void body_check(const struct body_form *form, const json_t *body,
		tree_tell *tell, void *ctx)
{
	struct body_walk walk = { .form = form, .tell = tell, .ctx = ctx };

	check_members(&walk, form->root, body);
}

/* ---- merging ----------------------------------------------------------- */

static json_t *merge(const struct body_form *form, const char *type,
		     const json_t *old, const json_t *value);

static bool is_deleted(const json_t *item)
{
	return !strcmp(json_get_text(item, DIRECTIVE, ""), "delete");
}

static json_t *merge_members(const struct body_form *form, const char *type,
			     const json_t *old, const json_t *value)
{
	json_t *out =
		json_is_object(old) ? json_copy((json_t *)old) : json_object();
	char below[TYPE_SIZE];
	const char *name;
	json_t *member;

	json_object_foreach((json_t *)value, name, member)
	{
		if (!strcmp(name, DIRECTIVE))
			continue;
		member_type(form, type, name, below);
		if (json_is_null(member))
			json_object_del(out, name);
		else
			json_put(out, name,
				 merge(form, below, json_object_get(out, name),
				       member));
	}
	return out;
}

/* The index of the item to merge this one with; past the end if there is
 * none. */
static size_t place_of(const json_t *list, const char *key, const json_t *item,
		       size_t at)
{
	const json_t *other;
	size_t i;

	if (*key == '#')
		return at;
	json_array_foreach(list, i, other)
	{
		if (json_equal(json_object_get(other, key),
			       json_object_get(item, key)))
			return i;
	}
	return i;
}

static json_t *merge_items(const struct body_form *form, const char *type,
			   const json_t *old, const json_t *value)
{
	const char *key = merge_key(type);
	json_t *out = key && json_is_array(old) ? json_copy((json_t *)old)
						: json_array();
	char below[TYPE_SIZE];
	json_t *item;
	size_t i, at;

	inner_type(type, below);
	json_array_foreach(value, i, item)
	{
		at = key ? place_of(out, key, item, i) : json_array_size(out);
		if (is_deleted(item))
			json_array_remove(out, at);
		else if (at < json_array_size(out))
			json_array_set_new(out, at,
					   merge(form, below,
						 json_array_get(out, at),
						 item));
		else
			json_array_append_new(out,
					      merge(form, below, NULL, item));
	}
	return out;
}

static json_t *merge(const struct body_form *form, const char *type,
		     const json_t *old, const json_t *value)
{
	if (json_is_array(value) && *type == '[')
		return merge_items(form, type, old, value);
	if (json_is_object(value))
		return merge_members(form, type, old, value);
	/* As a double, 0.1 would be sent with more digits; the server would
	 * turn 0.1 into 100m. */
	if (*type == 'q' && json_is_number(value))
		return json_sprintf("%.15g", json_number_value(value));
	return json_deep_copy(value);
}

json_t *body_merge(const struct body_form *form, json_t *into, const char *body)
{
	json_t *value = body ? json_loads(body, 0, NULL) : NULL;
	json_t *out;

	if (!value)
		return into;
	out = merge_members(form, form->root, into, value);
	json_decref(value);
	json_decref(into);
	return out;
}
