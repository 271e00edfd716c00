/* SPDX-License-Identifier: Apache-2.0 */
#include "core/plan/diff.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/json.h"
#include "core/provider/placeholder.h"

struct diff_walk {
	struct arena *mem;
	struct diff *out;
	size_t room;
	struct buf path;
};

static void compare(struct diff_walk *walk, const json_t *before,
		    const json_t *after);

/* Whether the key can be told from the dots and brackets around it. */
static bool is_plain(const char *key)
{
	return *key && !key[strspn(key, "abcdefghijklmnopqrstuvwxyz"
					"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789_-/")];
}

static void push_key(struct diff_walk *walk, const char *key)
{
	json_t *text;
	char *quoted;

	if (is_plain(key)) {
		if (walk->path.len)
			buf_putc(&walk->path, '.');
		buf_puts(&walk->path, key);
		return;
	}
	text = json_text(key);
	quoted = json_dumps(text, JSON_ENCODE_ANY);
	buf_printf(&walk->path, "[%s]", quoted);
	free(quoted);
	json_decref(text);
}

static void pop(struct diff_walk *walk, size_t len)
{
	walk->path.len = len;
	if (walk->path.data)
		walk->path.data[len] = '\0';
}

static void add(struct diff_walk *walk, const json_t *before,
		const json_t *after)
{
	struct diff *out = walk->out;
	struct change *change;

	if (out->count == walk->room) {
		size_t size = out->count * sizeof(*change);
		struct change *larger;

		walk->room = walk->room ? 2 * walk->room : 8;
		larger = arena_alloc(walk->mem, walk->room * sizeof(*larger));
		if (size)
			memcpy(larger, out->items, size);
		out->items = larger;
	}
	change = &out->items[out->count++];
	change->path = arena_strdup(walk->mem, buf_text(&walk->path));
	change->before = (json_t *)before;
	change->after = (json_t *)after;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void compare_gone(struct diff_walk *walk, const json_t *before,
			 const json_t *after)
{
	size_t size = json_object_size(before);
	const char **keys = mem_alloc((size + 1) * sizeof(*keys));
	json_t *all = (json_t *)before;
	size_t len = walk->path.len;
	size_t i, n = 0;
	json_t *value;
	const char *key;

	json_object_foreach(all, key, value) if (!json_object_get(after, key))
		keys[n++] = key;
	qsort(keys, n, sizeof(*keys), by_text);
	for (i = 0; i < n; i++) {
		push_key(walk, keys[i]);
		compare(walk, json_object_get(before, keys[i]), NULL);
		pop(walk, len);
	}
	free(keys);
}

static void compare_objects(struct diff_walk *walk, const json_t *before,
			    const json_t *after)
{
	json_t *all = (json_t *)after;
	size_t len = walk->path.len;
	const char *key;
	json_t *value;

	json_object_foreach(all, key, value)
	{
		push_key(walk, key);
		compare(walk, json_object_get(before, key), value);
		pop(walk, len);
	}
	compare_gone(walk, before, after);
}

static void compare_arrays(struct diff_walk *walk, const json_t *before,
			   const json_t *after)
{
	size_t n = json_array_size(before), m = json_array_size(after);
	size_t len = walk->path.len;
	size_t i;

	for (i = 0; i < n || i < m; i++) {
		buf_printf(&walk->path, "[%zu]", i);
		compare(walk, json_array_get(before, i),
			json_array_get(after, i));
		pop(walk, len);
	}
}

/* Whether the value is a list with items that have parts of their own. */
static bool is_nested(const json_t *value)
{
	size_t i;

	for (i = 0; i < json_array_size(value); i++) {
		const json_t *item = json_array_get(value, i);

		/* An output will be a plain value once it is known. */
		if (placeholder_type(item) != PLACEHOLDER_OUTPUT &&
		    (json_is_object(item) || json_is_array(item)))
			return true;
	}
	return false;
}

static bool is_same(const json_t *a, const json_t *b)
{
	if (json_is_number(a) && json_is_number(b) &&
	    json_typeof(a) != json_typeof(b))
		return json_number_value(a) == json_number_value(b);
	return json_equal(a, b);
}

/* A placeholder is compared as one value. */
static bool fits_object(const json_t *value)
{
	return !value || (json_is_object(value) && !placeholder_type(value));
}

static bool fits_array(const json_t *value)
{
	return !value || json_is_array(value);
}

static void compare(struct diff_walk *walk, const json_t *before,
		    const json_t *after)
{
	before = json_is_null(before) ? NULL : before;
	after = json_is_null(after) ? NULL : after;
	if (!before && !after)
		return;
	/* If neither side has fields, `{}` is compared as a plain value, or it
	 * would be neither compared nor shown. */
	if (fits_object(before) && fits_object(after) &&
	    json_object_size(before) + json_object_size(after) > 0)
		compare_objects(walk, before, after);
	else if (fits_array(before) && fits_array(after) &&
		 (is_nested(before) || is_nested(after)))
		compare_arrays(walk, before, after);
	else if (!before || !after || !is_same(before, after))
		add(walk, before, after);
}

void diff_json(const json_t *before, const json_t *after, struct arena *mem,
	       struct diff *out)
{
	struct diff_walk walk = { .mem = mem, .out = out };

	*out = (struct diff){ 0 };
	if (fits_object(before) && fits_object(after))
		compare_objects(&walk, before, after);
	else
		compare(&walk, before, after);
	buf_done(&walk.path);
}

bool diff_touches(const char *path, const char *field)
{
	size_t n = strlen(path), m = strlen(field);
	const char *longer = n > m ? path : field;
	size_t least = n < m ? n : m;

	return strncmp(path, field, least) == 0 &&
	       (n == m || longer[least] == '.' || longer[least] == '[');
}
