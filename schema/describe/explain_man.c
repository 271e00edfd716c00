/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the fields as a part of a manual page, in man(7)'s macros. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/alloc.h"
#include "schema/describe/explain.h"
#include "schema/tables/tables.h"

/* Writes text with backslashes, hyphens and a leading dot or quote escaped. */
static void put_roff(const char *text, size_t len, struct buf *out)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (!i && (text[i] == '.' || text[i] == '\''))
			buf_puts(out, "\\&");
		if (text[i] == '\\')
			buf_puts(out, "\\e");
		else if (text[i] == '-')
			buf_puts(out, "\\-");
		else
			buf_putc(out, text[i]);
	}
}

static void put_text(const char *text, struct buf *out)
{
	put_roff(text, strlen(text), out);
	buf_putc(out, '\n');
}

static void put_values(const struct field *field, struct buf *out)
{
	const char *const *value;
	struct buf list = { 0 };

	for (value = field->values; *value; value++)
		if (!outline_is_unspecified(*value))
			buf_printf(&list, "%s%s", list.len ? ", " : "", *value);
	buf_puts(out, "One of ");
	put_roff(buf_text(&list), list.len, out);
	buf_puts(out, ".\n");
	buf_done(&list);
}

static void put_field(const struct field *field, struct buf *out)
{
	char type[OUTLINE_TYPE_SIZE], range[OUTLINE_TYPE_SIZE];

	buf_puts(out, ".TP\n.BR ");
	put_roff(field->name, strlen(field->name), out);
	buf_puts(out, " \" (");
	put_text(outline_type(field, type), out);
	out->len--;
	if (outline_range(field, range))
		buf_printf(out, ", %s", range);
	if (field->flags & FIELD_REQUIRED)
		buf_puts(out, ", required");
	if (field->unless)
		buf_printf(out, " unless %s is given", field->unless);
	if (field->fallback) {
		buf_puts(out, "; default ");
		put_roff(field->fallback, strlen(field->fallback), out);
	}
	buf_puts(out, ")\"\n");
	put_text(field->doc, out);
	if (field->values)
		put_values(field, out);
	if (field->deprecated) {
		buf_puts(out, "Deprecated: ");
		put_text(field->deprecated, out);
	}
}

/* The messages that were written already, and their paths. */
struct seen {
	struct {
		const struct message *message;
		char path[OUTLINE_PATH_MAX];
	} items[64];
	size_t count;
};

/* Returns the path of the first field with this message; NULL if this is the
 * first. */
static const char *first_of(struct seen *seen, const struct message *message,
			    const char *path)
{
	size_t i;

	for (i = 0; i < seen->count; i++)
		if (seen->items[i].message == message)
			return seen->items[i].path;
	if (seen->count < COUNT(seen->items)) {
		seen->items[i].message = message;
		snprintf(seen->items[i].path, OUTLINE_PATH_MAX, "%s", path);
		seen->count++;
	}
	return NULL;
}

static void put_message(const struct outline *all,
			const struct message *message, const char *path,
			struct seen *seen, struct buf *out)
{
	struct field fields[OUTLINE_FIELDS_MAX];
	size_t i, n = outline_fields(all, message, fields);
	const char *first = first_of(seen, message, path);

	buf_puts(out, ".SS ");
	put_text(*path ? path : "The top level", out);
	if (first) {
		buf_puts(out, "The same fields as those of\n.BR ");
		put_roff(first, strlen(first), out);
		buf_puts(out, " .\n");
		return;
	}
	put_text(message->doc, out);
	for (i = 0; i < n; i++)
		if (!(fields[i].flags & FIELD_OUTPUT))
			put_field(&fields[i], out);
	for (i = 0; i < n; i++) {
		const struct message *below = outline_below(&fields[i]);
		char deeper[OUTLINE_PATH_MAX];

		if (!below)
			continue;
		snprintf(deeper, sizeof(deeper), "%s%s%s", path,
			 *path ? "." : "", fields[i].name);
		put_message(all, below, deeper, seen, out);
	}
}

void explain_man(const struct outline *all, struct buf *out)
{
	struct seen *seen = mem_alloc(sizeof(*seen));

	buf_puts(out, ".SH FIELDS\n");
	put_message(all, &message_job, "", seen, out);
	free(seen);
}

/* ---- the page of a provider -------------------------------------------- */

/* Fields of which a provider makes the same. */
struct use_group {
	const char *use; /* "": nothing */
	struct buf names;
};

struct uses {
	const struct outline *all;
	const struct provider *provider;
	struct use_group *groups; /* in the order of their first fields */
	size_t count;
};

/* The names come one a line, so that only spaces end one. */
static void put_use(struct uses *uses, const char *path, const char *use)
{
	struct use_group *group = uses->groups;
	struct use_group *end = group + uses->count;

	if (!strcmp(use, USE_SEE_FIELDS))
		return;
	while (group < end && strcmp(group->use, use) != 0)
		group++;
	if (group == end) {
		uses->groups = mem_grow(uses->groups, uses->count + 1,
					sizeof(*uses->groups));
		group = &uses->groups[uses->count++];
		*group = (struct use_group){ .use = use };
	}
	buf_puts(&group->names, group->names.len ? " ,\n.BR " : ".BR ");
	put_roff(path, strlen(path), &group->names);
}

/* Says what becomes of fields in sentences of their own; the rest is in
 * lists. */
static bool is_listed(const char *use)
{
	return !*use || !strcmp(use, USE_AS_DOCUMENTED);
}

/* A field that is used as the one above it is not worth a line. */
static void put_uses(struct uses *uses, const struct message *message,
		     const char *path, const char *above)
{
	struct field fields[OUTLINE_FIELDS_MAX];
	size_t i, n = outline_fields(uses->all, message, fields);

	for (i = 0; i < n; i++) {
		const struct message *below = outline_below(&fields[i]);
		char deeper[OUTLINE_PATH_MAX];
		const char *use;

		snprintf(deeper, sizeof(deeper), "%s%s%s", path,
			 *path ? "." : "", fields[i].name);
		use = outline_use(uses->all, uses->provider, deeper);
		if (fields[i].flags & FIELD_OUTPUT || !use ||
		    outline_owner(uses->all, deeper))
			continue;
		if (strcmp(use, above) != 0 &&
		    !(use_is_none(use) && use_is_none(above)))
			put_use(uses, deeper, use);
		if (below)
			put_uses(uses, below, deeper, use);
	}
}

static void put_groups(const struct uses *uses, struct buf *out)
{
	static const char *const lists[][2] = {
		{ USE_AS_DOCUMENTED, "Used as documented" },
		{ "", "Not used" },
	};
	const struct use_group *group, *end = uses->groups + uses->count;
	bool first = true;
	size_t i;

	buf_puts(out, ".SS What becomes of other fields\n");
	for (group = uses->groups; group < end; group++)
		if (!is_listed(group->use)) {
			buf_printf(out, "%s%s :\n.RS 4\n", first ? "" : ".PP\n",
				   group->names.data);
			put_text(group->use, out);
			buf_puts(out, ".RE\n");
			first = false;
		}
	for (i = 0; i < COUNT(lists); i++)
		for (group = uses->groups; group < end; group++)
			if (!strcmp(group->use, lists[i][0]))
				buf_printf(out, ".SS %s\n%s .\n", lists[i][1],
					   group->names.data);
}

void explain_provider_man(const struct outline *all,
			  const struct provider *provider, struct buf *out)
{
	struct uses uses = { .all = all, .provider = provider };
	char path[OUTLINE_PATH_MAX];
	struct seen *seen;
	size_t i;

	buf_puts(out, ".SH FIELDS\n");
	if (provider->block) {
		seen = mem_alloc(sizeof(*seen));
		snprintf(path, sizeof(path), "jobrun.%s", provider->name);
		put_message(all, provider->block, path, seen, out);
		free(seen);
	}
	put_uses(&uses, &message_job, "", USE_SEE_FIELDS);
	put_groups(&uses, out);
	for (i = 0; i < uses.count; i++)
		buf_done(&uses.groups[i].names);
	free(uses.groups);
}
