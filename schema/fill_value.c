/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/fill_value.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/base/alloc.h"
#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "schema/looks.h"
#include "schema/nearest.h"
#include "schema/node.h"
#include "schema/scalar.h"

/* "\"args\"", or "\"args\"[2]" for an item of it. */
static const char *spot_name(const struct spot *at, char out[SHORT_SIZE])
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

static bool hint_looks(struct fill *fill, const struct node *value)
{
	const char *hint = looks_hint_of(value);

	if (hint)
		problem_hint(fill->found, "%s", hint);
	return hint;
}

static void wrong_type(struct fill *fill, const struct spot *at,
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
			    text_short(value->text, shown));
	else
		problem_add(fill->found, SEVERITY_ERROR, value, at->path,
			    "type", "%s must be %s, found a %s", name, wanted,
			    value->kind == NODE_LIST ? "list" : "map");
	hint_looks(fill, value);
}

static size_t count_names(const char *const *names)
{
	size_t n = 0;

	while (names[n])
		n++;
	return n;
}

/* Not a value, only the API's name for none. */
static bool is_unspecified(const char *name)
{
	return text_ends(name, "_UNSPECIFIED");
}

static void add_not_one_of(struct fill *fill, const struct spot *at)
{
	const char *const *names = at->field->values;
	size_t i, first = is_unspecified(names[0]), count = count_names(names);
	const char *near =
		nearest_name(at->value->text, names + first, count - first);
	char name[SHORT_SIZE], shown[SHORT_SIZE];
	struct buf list = { 0 };

	if (near)
		buf_puts(&list, near);
	for (i = first; i < count; i++)
		if (!near || strcmp(names[i], near) != 0)
			buf_printf(&list, "%s%s", list.len ? ", " : "",
				   names[i]);
	problem_add(fill->found, SEVERITY_ERROR, at->value, at->path, "enum",
		    "%s \"%s\" is not one of %s", spot_name(at, name),
		    text_short(at->value->text, shown), buf_text(&list));
	if (!hint_looks(fill, at->value) && near)
		problem_hint(fill->found, "did you mean %s?", near);
	buf_done(&list);
}

/* The index of the value among the allowed ones, or -1 with a problem. */
static int enum_index(struct fill *fill, const struct spot *at)
{
	const char *const *names = at->field->values;
	char name[SHORT_SIZE];
	int i;

	if (at->value->kind != NODE_SCALAR) {
		wrong_type(fill, at, "one word");
		return -1;
	}
	for (i = 0; names[i]; i++)
		if (!strcmp(names[i], at->value->text))
			break;
	if (names[i] && is_unspecified(names[i])) {
		problem_add(fill->found, SEVERITY_WARNING, at->value, at->path,
			    "enum-unspecified",
			    "%s %s means none, as if it were not given",
			    spot_name(at, name), names[i]);
		return -1;
	}
	if (names[i])
		return i;
	for (i = 0; names[i]; i++) {
		if (strcasecmp(names[i], at->value->text) != 0)
			continue;
		problem_add(fill->found, SEVERITY_WARNING, at->value, at->path,
			    "enum-case", "%s is written %s",
			    spot_name(at, name), names[i]);
		return i;
	}
	add_not_one_of(fill, at);
	return -1;
}

/* False, with a problem, if the text has not the form that the row wants. */
static bool check_text(struct fill *fill, const struct spot *at,
		       const char *text)
{
	char name[SHORT_SIZE], shown[SHORT_SIZE], mended[SHORT_SIZE];
	struct error err = { 0 };

	if (!at->field->check || at->field->check(text, &err) == 0)
		return true;
	problem_add(fill->found, SEVERITY_ERROR, at->value, at->path, "format",
		    "%s \"%s\" %s", spot_name(at, name),
		    text_short(text, shown), err.text);
	if (!hint_looks(fill, at->value) && fill->mend &&
	    fill->mend(at->field, text, mended))
		problem_hint(fill->found, "%s would be right", mended);
	return false;
}

/* Text as it is written; NULL with a problem if it is a list or a map. */
static const char *text_of(struct fill *fill, const struct spot *at)
{
	if (at->value->kind == NODE_SCALAR)
		return at->value->text;
	wrong_type(fill, at, "text");
	if (at->value->kind == NODE_MAP && at->field->type == FIELD_STRINGS &&
	    !looks_hint_of(at->value))
		problem_hint(fill->found,
			     "text with \": \" in it needs quotes");
	return NULL;
}

/* What YAML makes of it: "a number", or "the number 2.1" if that is not how
 * it is written. */
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

/* One warning for a whole list: the cause is one habit. */
static void warn_unquoted(struct fill *fill, const struct spot *at, size_t more)
{
	char name[SHORT_SIZE], shown[SHORT_SIZE], read[SHORT_SIZE];

	text_short(at->value->text, shown);
	yaml_value(at->value, read);
	problem_add(fill->found, SEVERITY_WARNING, at->value, at->path,
		    "unquoted",
		    "%s must be a string: %s without quotes is %s to YAML, "
		    "and is read here exactly as written",
		    spot_name(at, name), shown, read);
	if (more)
		problem_hint(fill->found,
			     "write \"%s\", and put the other %zu here into "
			     "quotes too",
			     shown, more);
	else
		problem_hint(fill->found, "write \"%s\"", shown);
}

static bool is_unquoted(const struct spot *at, const struct node *value)
{
	enum scalar_kind kind = scalar_kind(value);

	if ((at->field->flags & FIELD_NUMBERS) || value->loose)
		return false;
	return kind == SCALAR_BOOL || kind == SCALAR_INT ||
	       kind == SCALAR_FLOAT;
}

/* A path that a base of the job's file says, as the job's file would. */
static const char *path_from_job(struct fill *fill, const struct spot *at,
				 const char *text)
{
	const struct node *value = at->value;
	char *base, *path, *from_job, *folder;

	if (!(at->field->flags & FIELD_PATH) || !fill->origin ||
	    value->origin == fill->origin ||
	    text_starts(value->origin->name, "--set") || text[0] == '/' ||
	    strstr(text, "://"))
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

static bool fill_string(struct fill *fill, const struct spot *at,
			const char **out)
{
	const char *text;
	int i;

	if (at->field->values) {
		i = enum_index(fill, at);
		if (i >= 0)
			*out = at->field->values[i];
		return i >= 0;
	}
	text = text_of(fill, at);
	if (!text || !check_text(fill, at, text))
		return false;
	if (is_unquoted(at, at->value))
		warn_unquoted(fill, at, 0);
	*out = path_from_job(fill, at, text);
	return true;
}

static bool in_range(struct fill *fill, const struct spot *at, long value,
		     long shown_unit)
{
	const struct field *field = at->field;
	long max = field->max || field->min ? field->max : LONG_MAX;
	char name[SHORT_SIZE];
	const char *unit = shown_unit ? "s" : "";

	if (value >= field->min && value <= max)
		return true;
	spot_name(at, name);
	if (value < 0)
		problem_add(fill->found, SEVERITY_ERROR, at->value, at->path,
			    "range", "%s must not be negative", name);
	else if (value < field->min)
		problem_add(fill->found, SEVERITY_ERROR, at->value, at->path,
			    "range", "%s must be at least %ld%s, not %ld%s",
			    name, field->min, unit, value, unit);
	else
		problem_add(fill->found, SEVERITY_ERROR, at->value, at->path,
			    "range", "%s must be at most %ld%s, not %ld%s",
			    name, max, unit, value, unit);
	return false;
}

static bool fill_int(struct fill *fill, const struct spot *at, long *out)
{
	char name[SHORT_SIZE], shown[SHORT_SIZE];
	bool odd = false;
	long value;

	if (!scalar_int(at->value, &value, &odd)) {
		wrong_type(fill, at,
			   scalar_kind(at->value) == SCALAR_INT
				   ? "an integer of a sensible size"
				   : "an integer");
		return false;
	}
	if (!in_range(fill, at, value, 0))
		return false;
	if (odd) {
		problem_add(fill->found, SEVERITY_WARNING, at->value, at->path,
			    "number-form", "%s %s is read as the number %ld",
			    spot_name(at, name),
			    text_short(at->value->text, shown), value);
		problem_hint(fill->found, "write %ld", value);
	}
	*out = value;
	return true;
}

bool fill_parse_duration(const char *text, long *out, struct error *err)
{
	const char *point = strchr(text, '.');
	char whole[32];
	size_t len;

	/* Fractions are those of the API's own form: "3600.5s". */
	if (!point || strcmp(point + 1 + strspn(point + 1, "0123456789"), "s"))
		return duration_parse(text, out, err) == 0;
	len = (size_t)(point - text);
	if (len >= sizeof(whole)) {
		error_set(err, ERROR_INVALID, "is too long");
		return false;
	}
	memcpy(whole, text, len);
	whole[len] = '\0';
	if (duration_parse(whole, out, err) < 0)
		return false;
	if (point[1 + strspn(point + 1, "0")] != 's')
		(*out)++;
	return true;
}

static bool fill_duration(struct fill *fill, const struct spot *at, long *out)
{
	char name[SHORT_SIZE], shown[SHORT_SIZE];
	const char *text = text_of(fill, at);
	struct error err = { 0 };
	long value;

	if (!text)
		return false;
	spot_name(at, name);
	text_short(text, shown);
	if (at->field->check && at->field->check(text, &err) < 0) {
		problem_add(fill->found, SEVERITY_ERROR, at->value, at->path,
			    "duration", "%s %s, found \"%s\"", name, err.text,
			    shown);
		if (duration_parse(text, &value, &err) == 0)
			problem_hint(fill->found, "write \"%lds\"", value);
		return false;
	}
	if (!fill_parse_duration(text, &value, &err)) {
		problem_add(fill->found, SEVERITY_ERROR, at->value, at->path,
			    "duration", "%s: %s", name, err.text);
		return false;
	}
	if (!in_range(fill, at, value, 1))
		return false;
	*out = value;
	return true;
}

static bool fill_bool(struct fill *fill, const struct spot *at, bool *out)
{
	char name[SHORT_SIZE];

	if (!scalar_bool(at->value, out)) {
		wrong_type(fill, at, "true or false");
		return false;
	}
	if (!at->value->plain) {
		problem_add(fill->found, SEVERITY_WARNING, at->value, at->path,
			    "quoted", "%s is a boolean, and this is a text",
			    spot_name(at, name));
		problem_hint(fill->found, "write %s without quotes",
			     *out ? "true" : "false");
	}
	return true;
}

/* The words of a text as the items of a list: "--epochs 10" are two. */
static void put_items(const struct field *field, const char *text,
		      struct buf *out)
{
	bool numbers = field->type == FIELD_DOUBLES;
	const char *stop = numbers ? " \t\n," : " \t\n";
	const char *first = "";

	for (text += strspn(text, stop); *text; text += strspn(text, stop)) {
		size_t len = strcspn(text, stop), n = len;
		bool last_comma = text[n - 1] == ',' && n > 1;
		const char *quote;

		n -= last_comma;
		quote = !numbers && (strcspn(text, ",[]{}#&*!|>%@`:") < n ||
				     strspn(text, "0123456789.+-eE") >= n)
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

/* A list, or a problem that shows how to write one. */
static bool is_list(struct fill *fill, const struct spot *at)
{
	const struct node *value = at->value;
	struct buf items = { 0 };

	if (value->kind == NODE_LIST)
		return true;
	wrong_type(fill, at, "a list");
	if (looks_hint_of(value) || value->kind == NODE_BAD)
		return false;
	if (value->kind == NODE_MAP) {
		problem_hint(fill->found, "each item of a list begins with "
					  "\"- \"");
	} else if (strlen(value->text) < 60 && !strpbrk(value->text, "\"'") &&
		   at->field->type != FIELD_MESSAGES) {
		put_items(at->field, value->text, &items);
		problem_hint(fill->found, "write %s: [%s]", at->field->name,
			     buf_text(&items));
		buf_done(&items);
	}
	return false;
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

static bool is_map(struct fill *fill, const struct spot *at)
{
	const struct node *value = at->value;

	if (value->kind == NODE_MAP)
		return true;
	wrong_type(fill, at, "a map of keys");
	if (value->kind == NODE_LIST)
		problem_hint(fill->found, "write its keys without \"- \"");
	else if (value->kind == NODE_SCALAR && is_key_and_value(value->text))
		problem_hint(fill->found,
			     "write KEY: VALUE, with a blank after the \":\"");
	return false;
}

static bool is_empty_item(struct fill *fill, const struct spot *at)
{
	char name[SHORT_SIZE];

	if (!scalar_is_null(at->value))
		return false;
	problem_add(fill->found, SEVERITY_ERROR, at->value, at->path, "type",
		    "%s is empty", spot_name(at, name));
	problem_hint(fill->found, "write \"\" for an empty text");
	return true;
}

static bool fill_strings(struct fill *fill, const struct spot *at,
			 struct strings *out)
{
	struct path path = { .up = at->path };
	struct spot one = { .field = at->field, .path = &path };
	struct path first_path;
	struct spot first = { 0 };
	const struct item *item;
	size_t unquoted = 0;

	if (!is_list(fill, at))
		return false;
	out->items =
		arena_alloc(fill->mem, at->value->count * sizeof(*out->items));
	for (item = at->value->items; item; item = item->next, path.index++) {
		const char *text;

		one.value = item->value;
		if (is_empty_item(fill, &one))
			continue;
		text = text_of(fill, &one);
		if (!text || !check_text(fill, &one, text))
			continue;
		if (is_unquoted(at, item->value) && !unquoted++) {
			first_path = path;
			first = one;
			first.path = &first_path;
		}
		out->items[out->count++] = path_from_job(fill, &one, text);
	}
	if (unquoted)
		warn_unquoted(fill, &first, unquoted - 1);
	return true;
}

static bool fill_doubles(struct fill *fill, const struct spot *at,
			 struct doubles *out)
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
			wrong_type(fill, &one, "a number");
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

static bool fill_pairs(struct fill *fill, const struct spot *at,
		       struct pairs *out)
{
	struct path path = { .up = at->path };
	struct spot one = { .field = at->field, .path = &path };
	struct path first_path;
	struct spot first = { 0 };
	const struct item *item;
	size_t unquoted = 0;

	if (!is_map(fill, at))
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
		pair->value = text_of(fill, &one);
		if (!pair->value || !check_text(fill, &one, pair->value))
			continue;
		if (is_unquoted(at, item->value) && !unquoted++) {
			first_path = path;
			first = one;
			first.path = &first_path;
		}
		out->count++;
	}
	if (unquoted)
		warn_unquoted(fill, &first, unquoted - 1);
	return true;
}

static bool fill_messages(struct fill *fill, const struct spot *at,
			  struct messages *out)
{
	bool named = at->field->type == FIELD_NAMED;
	const struct message *message = at->field->message;
	struct path path = { .up = at->path };
	struct spot one = { .field = at->field, .path = &path };
	const struct item *item;
	char *data;

	if (!(named ? is_map(fill, at) : is_list(fill, at)))
		return false;
	data = arena_alloc(fill->mem, at->value->count * message->size);
	out->items = data;
	for (item = at->value->items; item; item = item->next, path.index++) {
		path.name = named ? item->key->text : NULL;
		one.value = item->value;
		if (named)
			check_key(fill, &one, item->key, at->field->check);
		if (!is_map(fill, &one))
			continue;
		if (named)
			memcpy(data + sizeof(struct message_head),
			       &item->key->text, sizeof(item->key->text));
		fill_message(fill, message, item->value, &path, data);
		data += message->size;
		out->count++;
	}
	return true;
}

bool fill_field(struct fill *fill, const struct spot *at, void *member)
{
	int i;

	switch (at->field->type) {
	case FIELD_STRING:
		return fill_string(fill, at, member);
	case FIELD_INT:
		return fill_int(fill, at, member);
	case FIELD_DURATION:
		return fill_duration(fill, at, member);
	case FIELD_DOUBLE:
		if (scalar_double(at->value, member))
			return true;
		wrong_type(fill, at, "a number");
		return false;
	case FIELD_BOOL:
		return fill_bool(fill, at, member);
	case FIELD_ENUM:
		i = enum_index(fill, at);
		if (i >= 0)
			*(int *)member = i;
		return i >= 0;
	case FIELD_STRINGS:
		return fill_strings(fill, at, member);
	case FIELD_DOUBLES:
		return fill_doubles(fill, at, member);
	case FIELD_PAIRS:
		return fill_pairs(fill, at, member);
	case FIELD_MESSAGES:
	case FIELD_NAMED:
		return fill_messages(fill, at, member);
	case FIELD_MESSAGE:
		if (!is_map(fill, at))
			return false;
		/* Those of the message around it were set with its own. */
		fill_keys(fill, at->field->message, at->value, at->path,
			  member);
		return true;
	}
	return false;
}
