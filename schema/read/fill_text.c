/* SPDX-License-Identifier: Apache-2.0 */
/* Strings and enumerations of job files. */
#include "schema/read/fill_part.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "schema/rules/hints.h"
#include "schema/yaml/looks.h"
#include "core/base/nearest.h"
#include "schema/yaml/node.h"
#include "schema/yaml/node_json.h"
#include "schema/yaml/scalar.h"

const char *spot_name(const struct spot *at, char out[SHORT_SIZE])
{
	struct buf text = { 0 };

	if (at->path->name && strcmp(at->path->name, at->field->name) != 0)
		buf_printf(&text, "\"%s\" of \"%s\"", at->path->name,
			   at->field->name);
	else
		buf_printf(&text, "\"%s\"", at->field->name);
	if (!at->path->name)
		buf_printf(&text, "[%zu]", at->path->index);
	text_short(text.data, out);
	buf_done(&text);
	return out;
}

/* Whether the value may be a secret itself, instead of where one is. */
static bool is_below_secrets(const struct spot *at)
{
	const struct path *path = at->path;

	if (!strcmp(at->field->name, "file"))
		return false;
	for (; path; path = path->up)
		if (path->name && !strcmp(path->name, "secrets"))
			return true;
	return false;
}

/* The value for a message. */
static const char *spot_value(const struct spot *at, char out[SHORT_SIZE])
{
	if (is_below_secrets(at))
		return strcpy(out, "***");
	return text_short(at->value->text, out);
}

void spot_wrong_type(struct fill *fill, const struct spot *at,
		     const char *wanted)
{
	char name[SHORT_SIZE], shown[SHORT_SIZE];
	const struct node *value = at->value;

	if (value->kind == NODE_BAD)
		return;
	spot_name(at, name);
	if (value->kind == NODE_SCALAR)
		problem_add(fill->found, SEVERITY_ERROR, value, at->path,
			    "type", "%s must be %s, found \"%s\"", name, wanted,
			    spot_value(at, shown));
	else
		problem_add(fill->found, SEVERITY_ERROR, value, at->path,
			    "type", "%s must be %s, found a %s", name, wanted,
			    value->kind == NODE_LIST ? "list" : "map");
	hint_looks(fill->found, value);
}

static size_t count_names(const char *const *names)
{
	size_t n = 0;

	while (names[n])
		n++;
	return n;
}

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define NAMES_SHOWN 8

/* Whether the name only means that no value is given. */
static bool is_unspecified(const char *name)
{
	return text_ends(name, "_UNSPECIFIED");
}

/* Returns a hint by the names of the field and the message: "params.type". */
static const char *hint_at(const struct spot *at)
{
	const struct path *up = at->path->up;
	const char *meant = hint_value(at->field->name, at->value->text);
	char field[SHORT_SIZE];

	while (up && !up->name)
		up = up->up;
	if (meant || !up)
		return meant;
	snprintf(field, sizeof(field), "%s.%s", up->name, at->field->name);
	return hint_value(field, at->value->text);
}

static void add_not_one_of(struct fill *fill, const struct spot *at)
{
	const char *const *names = at->field->values;
	size_t i, first = is_unspecified(names[0]), count = count_names(names);
	const char *meant = hint_at(at);
	const char *near = meant && !strchr(meant, ' ')
				   ? meant
				   : nearest_name(at->value->text,
						  names + first, count - first);
	char name[SHORT_SIZE], shown[SHORT_SIZE], foreign[LOOKS_SIZE];
	struct buf list = { 0 };

	if (near)
		buf_puts(&list, near);
	if (near && count - first > NAMES_SHOWN)
		buf_printf(&list, " and %zu others", count - first - 1);
	for (i = first; i < count && !(near && count - first > NAMES_SHOWN);
	     i++)
		if (!near || strcmp(names[i], near) != 0)
			buf_printf(&list, "%s%s", list.len ? ", " : "",
				   names[i]);
	problem_add(fill->found, SEVERITY_ERROR, at->value, at->path, "enum",
		    "%s \"%s\" is not one of %s", spot_name(at, name),
		    text_short(at->value->text, shown), buf_text(&list));
	if (meant && strchr(meant, ' '))
		problem_hint(fill->found, "%s", meant);
	else if (looks_foreign(at->value->text, foreign))
		problem_hint(fill->found, "%s", foreign);
	else if (!hint_looks(fill->found, at->value) && near)
		problem_hint(fill->found, "did you mean %s?", near);
	buf_done(&list);
}

int fill_enum(struct fill *fill, const struct spot *at)
{
	const char *const *names = at->field->values;
	char name[SHORT_SIZE];
	bool yes;
	int i;

	if (field_is_boolean(at->field) && scalar_bool(at->value, &yes))
		return yes;
	if (at->value->kind != NODE_SCALAR) {
		spot_wrong_type(fill, at, "one word");
		return -1;
	}
	for (i = 0; names[i]; i++)
		if (!strcmp(names[i], at->value->text))
			break;
	if (names[i])
		return i;
	for (i = 0; names[i]; i++) {
		if (strcasecmp(names[i], at->value->text) != 0)
			continue;
		problem_add(fill->found, SEVERITY_WARNING, at->value, at->path,
			    "enum-case", "%s is written %s",
			    spot_name(at, name), names[i]);
		problem_respell(fill->found, at->value, names[i]);
		return i;
	}
	add_not_one_of(fill, at);
	return -1;
}

/* Whether the text has the form that the field wants; if not, reports a
 * problem. */
static bool check_text(struct fill *fill, const struct spot *at,
		       const char *text)
{
	char name[SHORT_SIZE], shown[SHORT_SIZE], mended[SHORT_SIZE];
	struct error err = { 0 };

	if (!at->field->check || at->field->check(text, &err) == 0)
		return true;
	problem_add(fill->found, SEVERITY_ERROR, at->value, at->path, "format",
		    "%s \"%s\" %s", spot_name(at, name),
		    is_below_secrets(at) ? "***" : text_short(text, shown),
		    err.text);
	if (!hint_looks(fill->found, at->value) && fill->mend &&
	    fill->mend(at->field, text, mended))
		problem_hint(fill->found, "%s would be right", mended);
	return false;
}

/* The same for a map; the check itself reports where it is wrong. */
static bool check_json(struct fill *fill, const struct spot *at,
		       const char *text)
{
	char name[SHORT_SIZE];
	struct error err = { 0 };

	if (!at->field->check || at->field->check(text, &err) == 0)
		return true;
	problem_add(fill->found, SEVERITY_ERROR, at->value, at->path, "format",
		    "%s %s", spot_name(at, name), err.text);
	return false;
}

const char *fill_text(struct fill *fill, const struct spot *at)
{
	char key[SHORT_SIZE];

	if (at->value->kind == NODE_SCALAR)
		return at->value->text;
	spot_wrong_type(fill, at, "a string");
	if (at->value->kind != NODE_MAP || looks_hint_of(at->value))
		return NULL;
	if (at->field->type == FIELD_STRINGS)
		problem_hint(fill->found, "quote a string with \": \" in it");
	else if (at->value->count == 1)
		problem_hint(fill->found,
			     "write the value alone, without \"%s:\"",
			     text_short(at->value->items->key->text, key));
	return NULL;
}

/* Names the type that YAML gives the text: "a number", or "the number 2.1" if
 * it is written in another form. */
static void yaml_value(const struct node *value, char out[SHORT_SIZE])
{
	char number[SHORT_SIZE];
	double real;
	bool yes;

	if (scalar_kind(value) == SCALAR_BOOL) {
		scalar_bool(value, &yes);
		snprintf(out, SHORT_SIZE, "the boolean %s",
			 yes ? "true" : "false");
		return;
	}
	snprintf(out, SHORT_SIZE, "a number");
	if (!scalar_double(value, &real))
		return;
	snprintf(number, sizeof(number), "%.15g", real);
	if (strcmp(number, value->text) != 0)
		snprintf(out, SHORT_SIZE, "the number %.32s", number);
}

static bool is_unquoted(const struct spot *at, const struct node *value)
{
	enum scalar_kind kind = scalar_kind(value);

	if ((at->field->flags & FIELD_NUMBERS) || value->loose)
		return false;
	return kind == SCALAR_BOOL || kind == SCALAR_INT ||
	       kind == SCALAR_FLOAT;
}

/* Warns once for a whole list, as all its items have the same cause. */
static void warn_unquoted(struct fill *fill, const struct spot *at,
			  const struct node *list, size_t more)
{
	const struct item *item;
	char name[SHORT_SIZE], shown[SHORT_SIZE], read[SHORT_SIZE];

	text_short(at->value->text, shown);
	yaml_value(at->value, read);
	problem_add(fill->found, SEVERITY_WARNING, at->value, at->path,
		    "unquoted",
		    "%s must be a string: YAML takes unquoted %s for %s; "
		    "jobrun reads it exactly as written",
		    spot_name(at, name), shown, read);
	if (!list)
		problem_fix(fill->found, at->value, "\"%s\"", at->value->text);
	for (item = list ? list->items : NULL; item; item = item->next)
		if (is_unquoted(at, item->value))
			problem_fix(fill->found, item->value, "\"%s\"",
				    item->value->text);
	if (more)
		problem_hint(fill->found,
			     "write \"%s\", and quote the other %zu here, too",
			     shown, more);
	else
		problem_hint(fill->found, "write \"%s\"", shown);
}

/* Returns a path in a base file as it is relative to the job's file. */
static const char *path_from_job(struct fill *fill, const struct spot *at,
				 const char *text)
{
	const struct node *value = at->value;
	char *base, *path, *from_job, *folder;

	if (!(at->field->flags & FIELD_PATH) || !fill->origin ||
	    value->origin == fill->origin ||
	    text_starts(value->origin->name, "--set") || text[0] == '/' ||
	    text_starts(text, "~/") || strstr(text, "://"))
		return text;
	base = path_folder(value->origin->name);
	path = path_join(base, text);
	folder = path_folder(fill->origin->name);
	from_job = path_relative(folder, path);
	text = arena_strdup(fill->mem, from_job);
	free(from_job);
	free(folder);
	free(path);
	free(base);
	return text;
}

/* Whether the text may be a name of the API in lower case:
 * "nvidia_tesla_t4". */
static bool is_other_case(const char *text)
{
	return strchr(text, '_') && strpbrk(text, LOWER) &&
	       !text[strspn(text, LOWER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789_")];
}

static const char *in_capitals(struct fill *fill, const struct spot *at,
			       const char *text)
{
	char *out = arena_strdup(fill->mem, text), *p;
	char name[SHORT_SIZE], shown[SHORT_SIZE];

	for (p = out; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	problem_add(fill->found, SEVERITY_WARNING, at->value, at->path,
		    "enum-case", "%s is written %s", spot_name(at, name),
		    text_short(out, shown));
	problem_respell(fill->found, at->value, out);
	return out;
}

/* Fills a field in the form of another system, which is kept as JSON. */
static bool fill_json(struct fill *fill, const struct spot *at,
		      const char **out)
{
	json_t *value;
	char *text;
	bool ok;

	if (!fill_is_map(fill, at))
		return false;
	value = node_json(at->value);
	text = json_canonical(value);
	json_decref(value);
	ok = check_json(fill, at, text);
	if (ok)
		*out = arena_strdup(fill->mem, text);
	free(text);
	return ok;
}

bool fill_string(struct fill *fill, const struct spot *at, const char **out)
{
	const char *text;
	int i;

	if (at->field->flags & FIELD_JSON)
		return fill_json(fill, at, out);

	if (at->field->values) {
		i = fill_enum(fill, at);
		if (i >= 0)
			*out = at->field->values[i];
		return i >= 0;
	}
	text = fill_text(fill, at);
	if (!text || !check_text(fill, at, text))
		return false;
	if (is_unquoted(at, at->value))
		warn_unquoted(fill, at, NULL, 0);
	if (at->field->unspecified && is_other_case(text))
		text = in_capitals(fill, at, text);
	*out = path_from_job(fill, at, text);
	return true;
}

const char *fill_item(struct fill *fill, const struct spot *at,
		      struct unquoted *unquoted)
{
	const char *text = fill_text(fill, at);

	if (!text || !check_text(fill, at, text))
		return NULL;
	if (is_unquoted(at, at->value) && !unquoted->count++) {
		unquoted->path = *at->path;
		unquoted->first = *at;
		unquoted->first.path = &unquoted->path;
	}
	return path_from_job(fill, at, text);
}

void unquoted_warn(struct fill *fill, const struct unquoted *unquoted,
		   const struct node *list)
{
	if (unquoted->count)
		warn_unquoted(fill, &unquoted->first, list,
			      unquoted->count - 1);
}
