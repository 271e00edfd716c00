/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/describe/outline.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/text.h"
#include "core/base/nearest.h"
#include "core/job/traits.h"
#include "schema/tables/tables.h"

#define OWNERS_MAX 8

void outline_init(struct outline *all, const struct provider *const *providers)
{
	size_t n = 0;

	*all = (struct outline){ 0 };
	for (; *providers && n + 1 < OUTLINE_PROVIDERS_MAX; providers++) {
		if ((*providers)->traits & TRAIT_HIDDEN)
			continue;
		all->providers[n] = *providers;
		all->provider_names[n++] = (*providers)->name;
	}
}

size_t outline_fields(const struct outline *all, const struct message *message,
		      struct field out[OUTLINE_FIELDS_MAX])
{
	size_t n = 0, i;

	for (; message->fields[n].name && n < OUTLINE_FIELDS_MAX; n++) {
		out[n] = message->fields[n];
		if (out[n].flags & FIELD_PROVIDER) {
			out[n].values = all->provider_names;
			out[n].fallback = all->provider_names[0];
		}
	}
	if (message != &message_jobrun)
		return n;
	for (i = 0; all->providers[i] && n < OUTLINE_FIELDS_MAX; i++) {
		const struct provider *provider = all->providers[i];

		if (!provider->block)
			continue;
		out[n++] = (struct field){
			.name = provider->name,
			.type = FIELD_MESSAGE,
			.message = provider->block,
			.doc = provider->block->doc,
		};
	}
	return n;
}

const struct message *outline_below(const struct field *field)
{
	switch (field->type) {
	case FIELD_MESSAGE:
	case FIELD_MESSAGES:
	case FIELD_NAMED:
		return field->message;
	default:
		return NULL;
	}
}

/* Whether the word is the camelCase name or its other spelling. */
static bool is_called(const char *name, const char *word)
{
	char snake[OUTLINE_TYPE_SIZE];

	if (!strcmp(name, word))
		return true;
	message_snake_name(name, snake, sizeof(snake));
	return !strcmp(snake, word);
}

static bool find_in(const struct outline *all, const struct message *message,
		    const char *word, struct field *out)
{
	struct field fields[OUTLINE_FIELDS_MAX];
	size_t i, n = outline_fields(all, message, fields);

	for (i = 0; i < n; i++) {
		if (!is_called(fields[i].name, word))
			continue;
		*out = fields[i];
		return true;
	}
	return false;
}

/* Takes the next word of a path, without "[0]"; returns false at the end. */
static bool next_word(const char **path, char out[OUTLINE_TYPE_SIZE])
{
	size_t len = strcspn(*path, ".[");

	if (!**path)
		return false;
	snprintf(out, OUTLINE_TYPE_SIZE, "%.*s", (int)len, *path);
	*path += len;
	while (**path == '[')
		*path += strcspn(*path, "]") + (strchr(*path, ']') ? 1 : 0);
	if (**path == '.')
		(*path)++;
	return true;
}

static void add_to_path(char path[OUTLINE_PATH_MAX], const char *name)
{
	size_t len = strlen(path);

	snprintf(path + len, OUTLINE_PATH_MAX - len, "%s%s", len ? "." : "",
		 name);
}

/* Finds all fields with the name below the message, up to OWNERS_MAX. */
static void find_all(const struct outline *all, const struct message *message,
		     const char *path, const char *word,
		     char (*found)[OUTLINE_PATH_MAX], size_t *count)
{
	struct field fields[OUTLINE_FIELDS_MAX];
	size_t i, n = outline_fields(all, message, fields);

	for (i = 0; i < n; i++) {
		const struct message *below = outline_below(&fields[i]);
		char here[OUTLINE_PATH_MAX];

		snprintf(here, sizeof(here), "%s", path);
		add_to_path(here, fields[i].name);
		if (is_called(fields[i].name, word) && *count < OWNERS_MAX)
			memcpy(found[(*count)++], here, sizeof(here));
		if (below)
			find_all(all, below, here, word, found, count);
	}
}

static void collect_names(const struct outline *all,
			  const struct message *message, const char **names,
			  size_t max, size_t *count)
{
	struct field fields[OUTLINE_FIELDS_MAX];
	size_t i, n = outline_fields(all, message, fields);

	for (i = 0; i < n; i++) {
		const struct message *below = outline_below(&fields[i]);

		if (*count < max)
			names[(*count)++] = fields[i].name;
		if (below)
			collect_names(all, below, names, max, count);
	}
}

static int unknown_field(const struct outline *all,
			 const struct outlined *parent, const char *word,
			 struct error *err)
{
	struct field fields[OUTLINE_FIELDS_MAX];
	const char *names[512];
	const char *near;
	char found[OWNERS_MAX][OUTLINE_PATH_MAX];
	size_t i, n, count = 0;

	n = outline_fields(all, parent->parent, fields);
	for (i = 0; i < n; i++)
		names[i] = fields[i].name;
	near = nearest_name(word, names, n);
	if (near)
		return error_set(err, ERROR_USAGE,
				 "no field '%s%s%s'; did you mean '%s%s%s'?",
				 parent->path, parent->path[0] ? "." : "", word,
				 parent->path, parent->path[0] ? "." : "",
				 near);
	find_all(all, &message_job, "", word, found, &count);
	if (!count) {
		collect_names(all, &message_job, names, COUNT(names), &count);
		near = nearest_name(word, names, count);
		count = 0;
		if (near)
			find_all(all, &message_job, "", near, found, &count);
	}
	if (count)
		return error_set(err, ERROR_USAGE,
				 "no field '%s%s%s'; did you mean '%s'?",
				 parent->path, parent->path[0] ? "." : "", word,
				 found[0]);
	return error_set(err, ERROR_USAGE,
			 "no field '%s%s%s': see 'jobrun explain -r'",
			 parent->path, parent->path[0] ? "." : "", word);
}

/* Completes the path if it is the tail of exactly one field's path. */
static int make_whole(const struct outline *all, const char *path,
		      char out[OUTLINE_PATH_MAX], struct error *err)
{
	char found[OWNERS_MAX][OUTLINE_PATH_MAX];
	char word[OUTLINE_TYPE_SIZE];
	struct buf list = { 0 };
	const char *rest = path;
	struct field field;
	size_t i, count = 0;

	snprintf(out, OUTLINE_PATH_MAX, "%s", path);
	if (!next_word(&rest, word) || find_in(all, &message_job, word, &field))
		return 0;
	find_all(all, &message_job, "", word, found, &count);
	if (count > 1) {
		for (i = 0; i < count; i++)
			buf_printf(&list, "%s%s", i ? ", " : "", found[i]);
		error_set(err, ERROR_USAGE, "'%s' is ambiguous: %s", word,
			  buf_text(&list));
		buf_done(&list);
		return -1;
	}
	if (count == 1) {
		snprintf(out, OUTLINE_PATH_MAX, "%s", found[0]);
		if (*rest)
			add_to_path(out, rest);
	}
	return 0;
}

int outline_find(const struct outline *all, const char *path,
		 struct outlined *out, struct error *err)
{
	struct outlined at = { .parent = &message_job };
	char whole[OUTLINE_PATH_MAX], word[OUTLINE_TYPE_SIZE];
	const char *rest = whole;

	if (make_whole(all, path, whole, err) < 0)
		return -1;
	while (next_word(&rest, word)) {
		const struct message *below = &message_job;
		struct field field;

		if (at.field.name) {
			below = outline_below(&at.field);
			if (!below)
				return error_set(err, ERROR_USAGE,
						 "'%s' has no fields of its "
						 "own",
						 at.path);
			at.parent = below;
		}
		if (!find_in(all, below, word, &field)) {
			/* Any word can be a key of a map. */
			if (at.field.type == FIELD_NAMED)
				continue;
			return unknown_field(all, &at, word, err);
		}
		at.field = field;
		add_to_path(at.path, field.name);
	}
	*out = at;
	return 0;
}

const char *outline_type(const struct field *field, char out[OUTLINE_TYPE_SIZE])
{
	switch (field->type) {
	case FIELD_STRING:
		if (field->flags & FIELD_JSON)
			return "map";
		return field->values ? "one of a few words" : "string";
	case FIELD_INT:
		return "whole number";
	case FIELD_DURATION:
		return "duration";
	case FIELD_DOUBLE:
		return "number";
	case FIELD_BOOL:
		return "true or false";
	case FIELD_ENUM:
		return "one of a few words";
	case FIELD_STRINGS:
		return "list of strings";
	case FIELD_DOUBLES:
		return "list of numbers";
	case FIELD_PAIRS:
		return "map of strings";
	case FIELD_TREE:
		return "map of any values";
	case FIELD_MESSAGE:
		return field->message->name;
	case FIELD_MESSAGES:
		snprintf(out, OUTLINE_TYPE_SIZE, "list of %s",
			 field->message->name);
		return out;
	case FIELD_NAMED:
		snprintf(out, OUTLINE_TYPE_SIZE, "map of %s",
			 field->message->name);
		return out;
	}
	return "";
}

const char *outline_range(const struct field *field,
			  char out[OUTLINE_TYPE_SIZE])
{
	const char *unit = field->type == FIELD_DURATION ? "s" : "";

	if (field->type != FIELD_INT && field->type != FIELD_DURATION)
		return NULL;
	/* A limit of a hundred years is not worth showing. */
	if (field->max && !(*unit && field->max >= 3153600000))
		snprintf(out, OUTLINE_TYPE_SIZE, "%ld%s to %ld%s", field->min,
			 unit, field->max, unit);
	else if (field->min)
		snprintf(out, OUTLINE_TYPE_SIZE, "at least %ld%s", field->min,
			 unit);
	else
		return NULL;
	return out;
}

bool outline_is_unspecified(const char *value)
{
	return text_ends(value, "_UNSPECIFIED");
}

size_t outline_sentence(const char *doc)
{
	const char *end;

	for (end = doc; *end; end++)
		if (end[0] == '.' && (!end[1] || end[1] == ' '))
			return (size_t)(end - doc) + 1;
	return strlen(doc);
}

/* Whether the provider has all traits that the field, and the fields it is in,
 * need. */
static bool is_honoured(const struct outline *all, const char *path,
			const struct provider *provider)
{
	const struct message *message = &message_job;
	char word[OUTLINE_TYPE_SIZE];
	struct field field;

	while (message && next_word(&path, word)) {
		if (!find_in(all, message, word, &field))
			return true;
		if (!traits_have(provider->traits, field.traits))
			return false;
		message = outline_below(&field);
	}
	return true;
}

const struct provider *outline_owner(const struct outline *all,
				     const char *path)
{
	size_t i;

	if (!text_starts(path, "jobrun."))
		return NULL;
	for (i = 0; all->providers[i]; i++)
		if (all->providers[i]->block &&
		    text_is_within(path + strlen("jobrun."),
				   all->providers[i]->name, '.'))
			return all->providers[i];
	return NULL;
}

const char *outline_use(const struct outline *all,
			const struct provider *provider, const char *path)
{
	const struct provider *owner = outline_owner(all, path);

	/* A provider's block has no effect on other providers. */
	if (owner)
		return owner == provider ? USE_AS_DOCUMENTED : "";
	return provider_use(provider, path, is_honoured(all, path, provider));
}
