/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for each place.  They come from the YAML files here, which become
 * tables when jobrun is built; the functions in `check` are in
 * rules_THEME.c. */
#include "schema/rules/rules.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/file.h"
#include "core/job/traits.h"
#include "schema/catalogue/catalogue_get.h"
#include "schema/rules/rules_check.h"
#include "schema/rules/rules_when.h"
#include "schema/yaml/source_text.h"

bool rule_holds(const struct rule *rule, unsigned traits)
{
	return traits_have(traits, rule->traits) && !(traits & rule->unless);
}

bool rule_is_everywhere(const struct rule *rule)
{
	return !rule->traits && !rule->unless;
}

const struct rule *rule_find(const char *id)
{
	const struct rule *const tables[] = { rules, general_rules };
	const struct rule *rule;
	size_t i;

	for (i = 0; i < COUNT(tables); i++)
		for (rule = tables[i]; rule->id; rule++)
			if (!strcmp(rule->id, id))
				return rule;
	return NULL;
}

static void check_one(struct check *check, const struct rule *rule)
{
	check->rule = rule;
	if (rule->check)
		rule->check(check);
	else
		check_when(check);
}

/* Reports a user's catalogue that is broken: at its own line, once for all
 * jobs. */
static void add_broken(const struct job *job, struct problems *found,
		       const struct error *err)
{
	const struct catalogue_fault *at = catalogue_fault();
	struct source_fault ignored;
	struct source source;
	struct error unread;
	char *text = NULL;
	size_t i, len;

	for (i = 0; i < found->count; i++)
		if (!strcmp(found->items[i].rule, "catalogue"))
			return;
	if (at)
		text = file_read(at->path, SOURCE_SIZE_MAX, &len, &unread);
	if (text &&
	    source_init(&source, at->shown, job->head.node->origin->order, text,
			len, &ignored) == 0)
		problem_add_at(found, SEVERITY_ERROR, &source, at->line,
			       at->column, 1, "catalogue", "%s", err->text);
	else
		problem_add(found, SEVERITY_ERROR, job->head.node, NULL,
			    "catalogue", "%s", err->text);
	if (text)
		source_done(&source);
}

void rules_check(const struct job *job, const unsigned *traits,
		 struct problems *found)
{
	const struct rule *rule;
	struct others others = { 0 };
	struct error err;
	struct check check = {
		.job = job,
		.in = &job->training_input,
		.traits = traits ? *traits : TRAITS_AI_PLATFORM,
		.asked = traits,
		.catalogue = catalogue_get(&err),
		.found = found,
		.others = &others,
	};

	if (!check.catalogue) {
		add_broken(job, found, &err);
		return;
	}
	for (rule = rules; rule->id; rule++)
		if (rule_holds(rule, check.traits))
			check_one(&check, rule);
}

/* ---- jobs of other providers ------------------------------------------- */

/* Whether an earlier problem is of the same rule. */
static bool was_named(const struct problems *found, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (!strcmp(found->items[k].rule, found->items[i].rule))
			return true;
	return false;
}

/* Makes one note of all, at the place of the first. */
static void sum_up(struct problems *found)
{
	struct problem *first = &found->items[0];
	struct buf list = { 0 };
	size_t i, rules_broken = 0;

	problems_sort(found);
	for (i = 0; i < found->count; i++) {
		if (was_named(found, i))
			continue;
		buf_printf(&list, "%s%s (line %u)", rules_broken++ ? ", " : "",
			   found->items[i].rule, found->items[i].at.line);
	}
	if (rules_broken > 1) {
		first->rule = "on-ai-platform";
		first->path = "";
		first->label_count = 0;
		first->message = arena_printf(
			found->mem,
			"AI Platform would refuse or ignore a part of this "
			"job: %s",
			buf_text(&list));
		first->hint = "'jobrun validate -v' shows each";
	}
	found->count = found->notes = 1;
	buf_done(&list);
}

void rules_note_elsewhere(const struct job *job, bool each,
			  struct problems *found)
{
	const struct rule *rule;
	struct problems notes = { 0 };
	struct others others = { 0 };
	struct error ignored;
	struct check check = {
		.job = job,
		.in = &job->training_input,
		.traits = TRAITS_AI_PLATFORM,
		.asked = true,
		.elsewhere = true,
		.catalogue = catalogue_get(&ignored),
		.found = &notes,
		.others = &others,
	};

	if (!check.catalogue)
		return;
	for (rule = rules; rule->id; rule++)
		if ((rule->note || rule->dated) && (each || !rule->quiet))
			check_one(&check, rule);
	if (notes.count > 1 && !each)
		sum_up(&notes);
	problems_move(found, &notes, 0);
}
