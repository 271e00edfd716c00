/* SPDX-License-Identifier: Apache-2.0 */
/* The fields as a part of a manual page, in man(7)'s macros. */
#include <string.h>

#include "schema/explain.h"
#include "schema/tables.h"

/* Text of ours: a backslash, a hyphen, a dot or a quote that starts a line. */
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
	if (field->fallback) {
		buf_puts(out, "; default ");
		put_roff(field->fallback, strlen(field->fallback), out);
	}
	buf_puts(out, ")\"\n");
	put_text(field->doc, out);
	if (field->values)
		put_values(field, out);
}

static void put_message(const struct outline *all,
			const struct message *message, const char *path,
			struct buf *out)
{
	struct field fields[OUTLINE_FIELDS_MAX];
	size_t i, n = outline_fields(all, message, fields);

	buf_puts(out, ".SS ");
	put_text(*path ? path : "The top level", out);
	put_text(message->doc, out);
	for (i = 0; i < n; i++)
		if (!(fields[i].flags & FIELD_OUTPUT))
			put_field(&fields[i], out);
	for (i = 0; i < n; i++) {
		const struct message *below = outline_below(&fields[i]);
		struct buf deeper = { 0 };

		if (!below)
			continue;
		buf_printf(&deeper, "%s%s%s", path, *path ? "." : "",
			   fields[i].name);
		put_message(all, below, buf_text(&deeper), out);
		buf_done(&deeper);
	}
}

void explain_man(const struct outline *all, struct buf *out)
{
	buf_puts(out, ".SH FIELDS\n");
	put_message(all, &message_job, "", out);
}
