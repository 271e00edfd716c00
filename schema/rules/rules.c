/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for each place.  They come from the YAML files here, which become
 * tables when jobrun is built; the functions in `check` are in
 * rules_THEME.c. */
#include "schema/rules/rules.h"

#include "core/job/traits.h"
#include "schema/catalogue/catalogue_get.h"
#include "schema/rules/rules_check.h"
#include "schema/rules/rules_when.h"

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

void rules_check(const struct job *job, const unsigned *traits,
		 struct problems *found)
{
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
		problem_add(found, SEVERITY_ERROR, job->head.node, NULL,
			    "catalogue", "%s", err.text);
		return;
	}
	for (check.rule = rules; check.rule->id; check.rule++) {
		if (!rule_holds(check.rule, check.traits))
			continue;
		if (check.rule->check)
			check.rule->check(&check);
		else
			check_when(&check);
	}
}
