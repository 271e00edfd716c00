/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/rules.h"

#include "schema/node.h"

static void check_secrets(const struct rule *rule, const struct job *job,
			  struct problems *found)
{
	struct path block = { .name = "jobrun" };
	struct path all = { .up = &block, .name = "secrets" };
	const struct secret *secret = job->jobrun.secrets.items;
	size_t i;

	for (i = 0; i < job->jobrun.secrets.count; i++, secret++) {
		struct path one = { .up = &all, .name = secret->name };
		/* Asks the file: a value that was refused was given too. */
		const struct node *env = node_get(secret->head.node, "env");
		const struct node *file = node_get(secret->head.node, "file");

		if (!env == !!file)
			continue;
		problem_add(found, SEVERITY_ERROR, secret->head.node, &one,
			    rule->id, "secret \"%s\" needs %s", secret->name,
			    env ? "one of \"env\" and \"file\", not both"
				: "\"env\" or \"file\": where to take it "
				  "from");
		problem_hint(found, "for instance %s: {env: %s}", secret->name,
			     secret->name);
	}
}

const struct rule rules[] = {
	{ .id = "secret",
	  .doc = "A secret has exactly one place to be taken from.",
	  .source = "jobrun-job(5)",
	  .check = check_secrets },
	{ .id = NULL },
};

void rules_check(const struct job *job, struct problems *found)
{
	const struct rule *rule;

	for (rule = rules; rule->id; rule++)
		rule->check(rule, job, found);
}
