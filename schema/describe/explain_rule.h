/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a rule, for people and for programs: `jobrun explain RULE-ID`. */
#ifndef JOBRUN_EXPLAIN_RULE_H
#define JOBRUN_EXPLAIN_RULE_H

#include "schema/describe/explain.h"
#include "schema/rules/rules.h"

void explain_rule_text(const struct outline *all, const struct rule *rule,
		       const struct explain_style *style, struct buf *out);
/* Returns new. */
json_t *explain_rule_json(const struct outline *all, const struct rule *rule);

#endif
