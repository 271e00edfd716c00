/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/describe/explain.h"

#include <stdio.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "schema/problem/problem.h"
#include "schema/rules/rules.h"
#include "schema/tables/tables.h"
#include "core/base/columns.h"

#define BOLD "\033[1m"
#define PLAIN "\033[0m"
#define INDENT 2
#define LABEL_WIDTH 11 /* "  Default: " */

static const char *bold(const struct explain_style *style)
{
	return style->colour ? BOLD : "";
}

static const char *plain(const struct explain_style *style)
{
	return style->colour ? PLAIN : "";
}

static void put_label(const char *label, const char *text,
		      const struct explain_style *style, struct buf *out)
{
	size_t start = out->len;

	buf_printf(out, "  %s:", label);
	buf_fill(out, ' ', LABEL_WIDTH - (out->len - start));
	wrap_text(text, LABEL_WIDTH, LABEL_WIDTH, style->width, out);
}

static void put_values(const struct field *field, struct buf *out)
{
	const char *const *value;
	size_t start = out->len;

	for (value = field->values; *value; value++)
		if (!outline_is_unspecified(*value))
			buf_printf(out, "%s%s", out->len > start ? ", " : "",
				   *value);
}

/* Writes the type, such as "whole number, 0 to 1000, also in quotes". */
static void put_type(const struct field *field, bool values, struct buf *out)
{
	char type[OUTLINE_TYPE_SIZE], range[OUTLINE_TYPE_SIZE];

	if (field->values && values)
		put_values(field, out);
	else
		buf_puts(out, outline_type(field, type));
	if (outline_range(field, range))
		buf_printf(out, ", %s", range);
	if (field->flags & FIELD_INT64)
		buf_puts(out, ", also in quotes");
	if (field->flags & FIELD_REQUIRED)
		buf_puts(out, ", required");
	if (field->unless)
		buf_printf(out, " unless %s is given", field->unless);
	if (field->flags & FIELD_OUTPUT)
		buf_puts(out, ", set by the service: no effect in a file");
}

/* Writes the required form of the text in the words of its own check, if there
 * is one; returns whether it did. */
static bool put_form(const struct field *field, struct buf *out)
{
	struct error err = { 0 };

	if (!field->check || field->check("\x01", &err) == 0)
		return false;
	/* Other checks say what is wrong instead of what is right. */
	if (!text_starts(err.text, "must") && !text_starts(err.text, "may"))
		return false;
	buf_puts(out, err.text);
	return true;
}

static void put_facts(const struct field *field,
		      const struct explain_style *style, struct buf *out)
{
	struct buf text = { 0 };

	put_type(field, false, &text);
	put_label("Type", buf_text(&text), style, out);
	buf_clear(&text);
	if (field->deprecated)
		put_label("Instead", field->deprecated, style, out);
	if (field->fallback)
		put_label("Default", field->fallback, style, out);
	if (field->values) {
		put_values(field, &text);
		put_label("Values", buf_text(&text), style, out);
	} else if (put_form(field, &text)) {
		put_label(field->type == FIELD_NAMED ? "Keys" : "Form",
			  buf_text(&text), style, out);
	}
	buf_done(&text);
}

/* Whether the rule is about the field at that path, or something below. */
static bool explain_rule_touches(const struct rule *rule, const char *path)
{
	const char *const *field;

	for (field = rule->fields; field && *field; field++) {
		if (text_is_within(path, *field, '.'))
			return true;
		/* Every rule touches trainingInput itself, so only fields below
		 * it count. */
		if (strchr(path, '.') && text_is_within(*field, path, '.'))
			return true;
	}
	return false;
}

static void put_rules(const struct outline *all, const char *path,
		      const struct explain_style *style, struct buf *out)
{
	const struct rule *rule;
	const struct provider *const *where;
	const char *before;
	struct buf text = { 0 };
	bool first = true;

	for (rule = rules; rule->id; rule++) {
		if (!explain_rule_touches(rule, path))
			continue;
		if (first)
			buf_printf(out, "\n%sRules%s\n", bold(style),
				   plain(style));
		first = false;
		buf_clear(&text);
		buf_printf(&text, "%s [%s", rule->doc, rule->id);
		before = ": ";
		for (where = all->providers; *where; where++) {
			if (rule_is_everywhere(rule) ||
			    !rule_holds(rule, (*where)->traits))
				continue;
			buf_printf(&text, "%s%s", before, (*where)->name);
			before = ", ";
		}
		buf_putc(&text, ']');
		buf_fill(out, ' ', INDENT);
		wrap_text(buf_text(&text), INDENT, INDENT + 2, style->width,
			  out);
	}
	buf_done(&text);
}

static void put_uses(const struct outline *all, const char *path,
		     const struct explain_style *style, struct buf *out)
{
	const struct provider *const *provider;
	bool first = true;

	for (provider = all->providers; *provider; provider++) {
		const char *use = outline_use(all, *provider, path);
		size_t start;

		if (!use)
			continue;
		if (first)
			buf_printf(out, "\n%sProviders%s\n", bold(style),
				   plain(style));
		first = false;
		start = out->len;
		buf_printf(out, "  %-12s  ", (*provider)->name);
		wrap_text(*use ? use : "not used", (int)(out->len - start),
			  (int)(out->len - start), style->width, out);
	}
}

static size_t longest_name(const struct field *fields, size_t count)
{
	size_t i, longest = 0;

	for (i = 0; i < count; i++)
		if (strlen(fields[i].name) > longest)
			longest = strlen(fields[i].name);
	return longest;
}

static void put_fields(const struct outline *all, const struct message *message,
		       int indent, const struct explain_style *style,
		       struct buf *out)
{
	struct field fields[OUTLINE_FIELDS_MAX];
	size_t i, n = outline_fields(all, message, fields);
	int column = indent + 2 + (int)longest_name(fields, n);

	for (i = 0; i < n; i++) {
		const struct message *below = outline_below(&fields[i]);
		struct buf text = { 0 };

		if (style->recursive && (fields[i].flags & FIELD_OUTPUT))
			continue;
		buf_fill(out, ' ', (size_t)indent);
		buf_printf(out, "%s%s%s", bold(style), fields[i].name,
			   plain(style));
		buf_fill(out, ' ',
			 (size_t)(column - indent) - strlen(fields[i].name));
		if (style->recursive) {
			put_type(&fields[i], true, &text);
			if (fields[i].fallback)
				buf_printf(&text, "; default %s",
					   fields[i].fallback);
		} else {
			buf_add(&text, fields[i].doc,
				outline_sentence(fields[i].doc));
		}
		wrap_text(buf_text(&text), column, column, style->width, out);
		buf_done(&text);
		if (style->recursive && below)
			put_fields(all, below, indent + 2, style, out);
	}
}

static void put_heading(const struct outlined *at,
			const struct explain_style *style, struct buf *out)
{
	char snake[OUTLINE_TYPE_SIZE];

	if (!at->field.name) {
		buf_printf(out, "%sJob%s\n\n", bold(style), plain(style));
		return;
	}
	buf_printf(out, "%s%s%s", bold(style), at->path, plain(style));
	message_snake_name(at->field.name, snake, sizeof(snake));
	if (strcmp(snake, at->field.name) != 0 && !strchr(at->field.name, '-'))
		buf_printf(out, " (or %s)", snake);
	buf_puts(out, "\n\n");
}

void explain_text(const struct outline *all, const struct outlined *at,
		  const struct explain_style *style, struct buf *out)
{
	const struct message *below =
		at->field.name ? outline_below(&at->field) : &message_job;

	if (!style->recursive) {
		put_heading(at, style, out);
		if (at->field.name)
			put_facts(&at->field, style, out);
		buf_puts(out, at->field.name ? "\n  " : "  ");
		wrap_text(at->field.name ? at->field.doc : message_job.doc, 2,
			  2, style->width, out);
		if (at->field.name) {
			put_rules(all, at->path, style, out);
			put_uses(all, at->path, style, out);
		}
		if (below)
			buf_printf(out, "\n%sFields%s\n", bold(style),
				   plain(style));
	} else if (at->field.name) {
		struct buf type = { 0 };

		put_type(&at->field, true, &type);
		buf_printf(out, "%s%s%s  %s\n", bold(style), at->path,
			   plain(style), buf_text(&type));
		buf_done(&type);
	}
	if (below)
		put_fields(all, below,
			   style->recursive && !at->field.name ? 0 : INDENT,
			   style, out);
}

static json_t *values_json(const struct field *field)
{
	json_t *list = json_array();
	const char *const *value;

	for (value = field->values; *value; value++)
		if (!outline_is_unspecified(*value))
			json_array_append_new(list, json_string(*value));
	return list;
}

static json_t *rules_json(const char *path)
{
	json_t *list = json_array();
	const struct rule *rule;

	for (rule = rules; rule->id; rule++) {
		json_t *one;

		if (!explain_rule_touches(rule, path))
			continue;
		one = json_object();
		json_put_text(one, "id", rule->id);
		json_put_text(one, "doc", rule->doc);
		json_put_text(one, "severity", severity_name(rule->severity));
		json_put_text(one, "source", rule->source);
		json_array_append_new(list, one);
	}
	return list;
}

static json_t *uses_json(const struct outline *all, const char *path)
{
	const struct provider *const *provider;
	json_t *list = json_array();

	for (provider = all->providers; *provider; provider++) {
		const char *use = outline_use(all, *provider, path);
		json_t *one;

		if (!use)
			continue;
		one = json_object();
		json_put_text(one, "name", (*provider)->name);
		json_put(one, "used", json_boolean(*use));
		if (*use)
			json_put_text(one, "use", use);
		json_array_append_new(list, one);
	}
	return list;
}

static void put_facts_json(const struct outline *all, const struct outlined *at,
			   json_t *out)
{
	const struct field *field = &at->field;
	char type[OUTLINE_TYPE_SIZE], snake[OUTLINE_TYPE_SIZE];

	message_snake_name(field->name, snake, sizeof(snake));
	json_put_text(out, "name", field->name);
	json_put_text(out, "snakeName", snake);
	json_put_text(out, "path", at->path);
	json_put_text(out, "type", outline_type(field, type));
	if (field->deprecated)
		json_put_text(out, "deprecated", field->deprecated);
	if (field->fallback)
		json_put_text(out, "default", field->fallback);
	if (field->values)
		json_put(out, "values", values_json(field));
	if (outline_range(field, type)) {
		json_put_int(out, "minimum", field->min);
		if (field->max)
			json_put_int(out, "maximum", field->max);
	}
	if (field->flags & FIELD_REQUIRED)
		json_put(out, "required", json_true());
	if (field->unless)
		json_put_text(out, "unless", field->unless);
	if (field->flags & FIELD_OUTPUT)
		json_put(out, "outputOnly", json_true());
	json_put_text(out, "doc", field->doc);
	json_put(out, "rules", rules_json(at->path));
	json_put(out, "providers", uses_json(all, at->path));
}

static json_t *fields_json(const struct outline *all,
			   const struct message *message, const char *path,
			   bool recursive);

static json_t *field_json(const struct outline *all, const struct outlined *at,
			  int levels)
{
	const struct message *below =
		at->field.name ? outline_below(&at->field) : &message_job;
	json_t *out = json_object();

	if (at->field.name)
		put_facts_json(all, at, out);
	else
		json_put_text(out, "doc", message_job.doc);
	if (below && levels)
		json_put(out, "fields",
			 fields_json(all, below, at->path, levels > 1));
	return out;
}

static json_t *fields_json(const struct outline *all,
			   const struct message *message, const char *path,
			   bool recursive)
{
	struct field fields[OUTLINE_FIELDS_MAX];
	size_t i, n = outline_fields(all, message, fields);
	json_t *list = json_array();

	for (i = 0; i < n; i++) {
		struct outlined at = { .field = fields[i], .parent = message };

		snprintf(at.path, sizeof(at.path), "%s%s%s", path,
			 *path ? "." : "", fields[i].name);
		json_array_append_new(list,
				      field_json(all, &at, recursive ? 2 : 0));
	}
	return list;
}

json_t *explain_json(const struct outline *all, const struct outlined *at,
		     bool recursive)
{
	json_t *out = json_object();
	json_t *body = field_json(all, at, recursive ? 2 : 1);

	json_put_int(out, "formatVersion", 1);
	json_object_update(out, body);
	json_decref(body);
	return out;
}
