/* SPDX-License-Identifier: Apache-2.0 */
#include "core/provider/placeholder.h"

#include <string.h>

#include "core/base/alloc.h"
#include "core/base/json.h"
#include "core/provider/provider.h"

static const struct {
	const char *name;
	const char *text;
} types[] = {
	[PLACEHOLDER_OUTPUT] = { "output", "(known after apply)" },
	[PLACEHOLDER_SECRET] = { "secret", "(sensitive)" },
	[PLACEHOLDER_SEALED] = { "sealed", "(sensitive)" },
};

static json_t *make(enum placeholder_type type)
{
	json_t *out = json_object();

	json_put_text(out, JSON_PLACEHOLDER_KEY, types[type].name);
	return out;
}

json_t *placeholder_output(const struct resource *of, const char *name)
{
	json_t *out = make(PLACEHOLDER_OUTPUT);

	json_put_text(out, "kind", of->kind->name);
	json_put_text(out, "resource", of->name);
	json_put_text(out, "name", name);
	return out;
}

json_t *placeholder_secret(const char *name)
{
	json_t *out = make(PLACEHOLDER_SECRET);

	json_put_text(out, "name", name);
	return out;
}

json_t *placeholder_sealed(const char *digest)
{
	json_t *out = make(PLACEHOLDER_SEALED);

	json_put_text(out, "digest", digest);
	return out;
}

enum placeholder_type placeholder_type(const json_t *value)
{
	const char *name = json_get_text(value, JSON_PLACEHOLDER_KEY, NULL);
	size_t i;

	for (i = PLACEHOLDER_OUTPUT; name && i < COUNT(types); i++)
		if (!strcmp(types[i].name, name))
			return (enum placeholder_type)i;
	return PLACEHOLDER_NONE;
}

const char *placeholder_text(const json_t *value)
{
	return types[placeholder_type(value)].text;
}

const char *placeholder_unknown(void)
{
	return types[PLACEHOLDER_OUTPUT].text;
}

/* Whether `value` holds a placeholder of `type`; NONE means any type. */
static bool holds(const json_t *value, enum placeholder_type type)
{
	enum placeholder_type is = placeholder_type(value);
	json_t *all = (json_t *)value;
	const char *key;
	json_t *item;
	size_t i;

	if (is)
		return !type || is == type;
	json_object_foreach(all, key, item)
	{
		if (holds(item, type))
			return true;
	}
	json_array_foreach(all, i, item)
	{
		if (holds(item, type))
			return true;
	}
	return false;
}

bool placeholder_any(const json_t *value)
{
	return holds(value, PLACEHOLDER_NONE);
}

bool placeholder_holds(const json_t *value, enum placeholder_type type)
{
	return holds(value, type);
}

/* Returns the value that a walk puts in the place of a placeholder, or NULL
 * with `err` set. */
typedef json_t *replace(const json_t *value, const void *arg,
			struct error *err);

static json_t *walk(const json_t *value, replace *change, const void *arg,
		    struct error *err)
{
	json_t *all = (json_t *)value;
	json_t *item, *one, *out;
	const char *key;
	size_t i;

	if (placeholder_type(value))
		return change(value, arg, err);
	/* A value without placeholders is shared, not copied. */
	if (!placeholder_any(value))
		return json_incref(all);
	out = json_is_object(value) ? json_object() : json_array();
	json_object_foreach(all, key, item)
	{
		one = walk(item, change, arg, err);
		if (!one)
			goto fail;
		json_put(out, key, one);
	}
	json_array_foreach(all, i, item)
	{
		one = walk(item, change, arg, err);
		if (!one)
			goto fail;
		json_array_append_new(out, one);
	}
	return out;
fail:
	json_decref(out);
	return NULL;
}

static json_t *show(const json_t *value, const void *arg, struct error *err)
{
	(void)arg;
	(void)err;
	return json_string(placeholder_text(value));
}

json_t *placeholder_show(const json_t *value)
{
	struct error ignored;

	return walk(value, show, NULL, &ignored);
}

static json_t *fill(const json_t *value, const void *arg, struct error *err)
{
	const struct placeholder_source *source = arg;
	const char *name = json_get_text(value, "name", "");
	json_t *out = NULL;
	int ret = 1;

	if (placeholder_type(value) == PLACEHOLDER_OUTPUT)
		ret = source->output(
			source->arg, json_get_text(value, "kind", ""),
			json_get_text(value, "resource", ""), name, &out, err);
	else if (placeholder_type(value) == PLACEHOLDER_SECRET)
		ret = source->secret(source->arg, name, &out, err);
	if (ret < 0)
		return NULL;
	return ret ? json_incref((json_t *)value) : out;
}

json_t *placeholder_fill(const json_t *value,
			 const struct placeholder_source *source,
			 struct error *err)
{
	return walk(value, fill, source, err);
}
