/* SPDX-License-Identifier: Apache-2.0 */
/* Writes problems for programs: our own JSON, and SARIF 2.1.0, the format of
 * code scanners. */
#include "schema/problem/problem.h"

#include <string.h>

#include "core/base/json.h"
#include "schema/rules/rules.h"

static json_t *place_json(const struct position *place)
{
	json_t *one = json_object();

	json_put_text(one, "file", place->file);
	json_put_int(one, "line", place->line);
	json_put_int(one, "column", place->column);
	return one;
}

/* Writes all labels; `also` remains the first one, for programs that know only
 * one. */
static void put_labels(json_t *one, const struct problem *p)
{
	json_t *all = json_array(), *label;
	unsigned i;

	for (i = 0; i < p->label_count; i++) {
		label = place_json(&p->labels[i].at);
		json_put_text(label, "message", p->labels[i].message);
		json_array_append_new(all, label);
	}
	if (p->label_count)
		json_put(one, "also", json_incref(json_array_get(all, 0)));
	if (p->label_count > 1)
		json_put(one, "labels", all);
	else
		json_decref(all);
}

void problems_json(const struct problems *found, struct buf *out)
{
	json_t *root = json_object();
	json_t *all = json_array();
	size_t i, omitted = problems_omitted(found);

	for (i = 0; i < found->count; i++) {
		const struct problem *p = &found->items[i];
		json_t *one = place_json(&p->at);

		json_put_text(one, "severity", severity_name(p->severity));
		json_put_text(one, "path", p->path);
		json_put_text(one, "rule", p->rule);
		json_put_text(one, "message", p->message);
		json_put_text(one, "hint", p->hint);
		put_labels(one, p);
		json_array_append_new(all, one);
	}
	json_put_int(root, "formatVersion", 1);
	json_put(root, "problems", all);
	if (omitted)
		json_put_int(root, "omitted", (long long)omitted);
	json_print(root, out);
	json_decref(root);
}

static json_t *text_object(const char *text)
{
	json_t *object = json_object();

	json_put_text(object, "text", text);
	return object;
}

/* Describes a rule for the page that a scanner shows: what, why, an example. */
static json_t *rule_json(const char *id)
{
	const struct rule *rule = rule_find(id);
	json_t *one = json_object(), *help;
	struct buf text = { 0 };

	json_put_text(one, "id", id);
	json_put(one, "shortDescription", text_object(rule ? rule->doc : id));
	if (!rule)
		return one;
	json_put(one, "fullDescription",
		 text_object(rule->why ? rule->why : rule->doc));
	json_put(one, "defaultConfiguration",
		 json_pack("{s:s}", "level", severity_name(rule->severity)));
	buf_puts(&text, rule->why ? rule->why : rule->doc);
	if (rule->wrong)
		buf_printf(&text,
			   "\n\nWrong:\n\n```yaml\n%s```\n\n"
			   "Right:\n\n```yaml\n%s```",
			   rule->wrong, rule->right);
	if (rule->source)
		buf_printf(&text, "\n\nSource: %s", rule->source);
	help = text_object(buf_text(&text));
	json_put_text(help, "markdown", buf_text(&text));
	json_put(one, "help", help);
	buf_done(&text);
	return one;
}

/* Returns the index of the rule, which is added when first used. */
static size_t rule_index(json_t *all, const char *id)
{
	size_t i, count = json_array_size(all);

	for (i = 0; i < count; i++)
		if (!strcmp(json_get_text(json_array_get(all, i), "id", ""),
			    id))
			return i;
	json_array_append_new(all, rule_json(id));
	return count;
}

/* Returns a path as a relative reference: RFC 3986, 4.2. */
static json_t *uri(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-._~/";
	struct buf text = { 0 };
	json_t *value;

	if (path[0] == '/')
		buf_puts(&text, "file://");
	for (; *path; path++)
		if (strchr(plain, *path))
			buf_putc(&text, *path);
		else
			buf_printf(&text, "%%%02X", (unsigned char)*path);
	value = json_text(buf_text(&text));
	buf_done(&text);
	return value;
}

static json_t *location(const struct position *place, const char *path)
{
	json_t *all = json_object(), *physical = json_object();
	json_t *artifact = json_object(), *region, *logical;

	json_put(artifact, "uri", uri(place->file));
	json_put(physical, "artifactLocation", artifact);
	if (place->line) {
		region = json_object();
		json_put_int(region, "startLine", place->line);
		json_put_int(region, "startColumn", place->column);
		json_put_int(region, "endColumn",
			     (long long)place->column + place->length);
		json_put(physical, "region", region);
	}
	json_put(all, "physicalLocation", physical);
	if (path && *path) {
		logical = json_object();
		json_put_text(logical, "fullyQualifiedName", path);
		json_put(all, "logicalLocations", json_pack("[o]", logical));
	}
	return all;
}

static json_t *fixes(const struct problem *p)
{
	json_t *all = json_array();
	unsigned i;

	for (i = 0; i < p->edit_count; i++) {
		const struct edit *edit = &p->edits[i];

		json_array_append_new(
			all, json_pack("{s:{s:i,s:i,s:i},s:{s:s}}",
				       "deletedRegion", "startLine", edit->line,
				       "startColumn", edit->column, "endColumn",
				       edit->column + edit->length,
				       "insertedContent", "text", edit->text));
	}
	return json_pack("[{s:{s:s},s:[{s:{s:o},s:o}]}]", "description", "text",
			 p->hint ? p->hint : p->message, "artifactChanges",
			 "artifactLocation", "uri", uri(p->at.file),
			 "replacements", all);
}

static json_t *result(const struct problem *p, json_t *all_rules)
{
	json_t *one = json_object(), *related = json_array();
	struct buf text = { 0 };
	unsigned i;

	buf_puts(&text, p->message);
	if (p->hint)
		buf_printf(&text, " (%s)", p->hint);
	json_put_text(one, "ruleId", p->rule);
	json_put_int(one, "ruleIndex",
		     (long long)rule_index(all_rules, p->rule));
	json_put_text(one, "level", severity_name(p->severity));
	json_put(one, "message", text_object(buf_text(&text)));
	json_put(one, "locations", json_pack("[o]", location(&p->at, p->path)));
	for (i = 0; i < p->label_count; i++) {
		json_t *also = location(&p->labels[i].at, NULL);

		json_put(also, "message", text_object(p->labels[i].message));
		json_array_append_new(related, also);
	}
	if (i)
		json_put(one, "relatedLocations", related);
	else
		json_decref(related);
	if (p->edit_count)
		json_put(one, "fixes", fixes(p));
	buf_done(&text);
	return one;
}

void problems_sarif(const struct problems *found, struct buf *out)
{
	json_t *root = json_object(), *run = json_object();
	json_t *tool = json_object(), *driver = json_object();
	json_t *results = json_array(), *all_rules = json_array();
	size_t i;

	for (i = 0; i < found->count; i++)
		json_array_append_new(results,
				      result(&found->items[i], all_rules));
	json_put_text(driver, "name", "jobrun");
	json_put_text(driver, "version", JOBRUN_VERSION);
	json_put(driver, "rules", all_rules);
	json_put(tool, "driver", driver);
	json_put(run, "tool", tool);
	json_put_text(run, "columnKind", "unicodeCodePoints");
	json_put(run, "results", results);
	json_put_text(root, "$schema",
		      "https://json.schemastore.org/sarif-2.1.0.json");
	json_put_text(root, "version", "2.1.0");
	json_put(root, "runs", json_pack("[o]", run));
	json_print(root, out);
	json_decref(root);
}
