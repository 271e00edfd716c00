/* SPDX-License-Identifier: Apache-2.0 */
/* Explains one kind of problem: what it is, why, and an example. */
#include "schema/describe/explain_rule.h"

#include <string.h>

#include "core/base/columns.h"
#include "core/base/json.h"
#include "schema/describe/explain_list.h"
#include "schema/problem/problem.h"

#define INDENT 2

static void put_part(const struct explain_style *style, const char *title,
		     const char *text, struct buf *out)
{
	if (!text || !*text)
		return;
	buf_printf(out, "\n%s%s%s\n", style->colour ? "\033[1m" : "", title,
		   style->colour ? "\033[0m" : "");
	buf_fill(out, ' ', INDENT);
	wrap_text(text, INDENT, INDENT, style->width, out);
}

static void put_example(const struct explain_style *style, const char *title,
			const char *text, struct buf *out)
{
	size_t len;

	if (!text)
		return;
	buf_printf(out, "\n%s%s%s\n", style->colour ? "\033[1m" : "", title,
		   style->colour ? "\033[0m" : "");
	for (; *text; text += len) {
		len = strcspn(text, "\n") + 1;
		buf_fill(out, ' ', INDENT);
		buf_add(out, text, len);
	}
}

static void put_names(const json_t *names, struct buf *out)
{
	json_t *name;
	size_t i;

	json_array_foreach((json_t *)names, i, name)
		buf_printf(out, "%s%s", i ? ", " : "", json_string_value(name));
}

static json_t *fields_of(const struct rule *rule)
{
	const char *const *field;
	json_t *names = json_array();

	for (field = rule->fields; field && *field; field++)
		json_array_append_new(names, json_string(*field));
	return names;
}

void explain_rule_text(const struct outline *all, const struct rule *rule,
		       const struct explain_style *style, struct buf *out)
{
	json_t *places = rule_places(all, rule), *fields = fields_of(rule);
	struct buf text = { 0 };

	buf_printf(out, "%s (%s)\n", rule->id, severity_name(rule->severity));
	buf_fill(out, ' ', INDENT);
	wrap_text(rule->doc, INDENT, INDENT, style->width, out);
	put_part(style, "Why", rule->why, out);
	put_example(style, "Wrong", rule->wrong, out);
	put_example(style, "Right", rule->right, out);
	put_names(fields, &text);
	put_part(style, "Looks at", buf_text(&text), out);
	buf_clear(&text);
	if (rule->check || rule->when)
		put_names(places, &text);
	if (rule->note)
		buf_puts(&text, "; a note for jobs that name another "
				"provider, or none");
	put_part(style, "Applies to", buf_text(&text), out);
	put_part(style, "Source", rule->source, out);
	buf_done(&text);
	json_decref(places);
	json_decref(fields);
}

json_t *explain_rule_json(const struct outline *all, const struct rule *rule)
{
	json_t *out = json_object();

	json_put_int(out, "formatVersion", 1);
	json_put_text(out, "rule", rule->id);
	json_put_text(out, "severity", severity_name(rule->severity));
	json_put_text(out, "doc", rule->doc);
	json_put_text(out, "why", rule->why);
	json_put_text(out, "wrong", rule->wrong);
	json_put_text(out, "right", rule->right);
	json_put(out, "fields", fields_of(rule));
	json_put(out, "providers", rule_places(all, rule));
	json_put(out, "noteElsewhere", json_boolean(rule->note || rule->dated));
	json_put_text(out, "source", rule->source);
	return out;
}
