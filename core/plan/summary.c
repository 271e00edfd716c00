/* SPDX-License-Identifier: Apache-2.0 */
/* What all renderings for people say in the same words. */
#include "core/plan/plan.h"

static const struct {
	const char *sign;
	const char *summary; /* "2 to run" */
} words[ACTION_TYPE_COUNT] = {
	[ACTION_NOOP] = { "·", "unchanged" },
	[ACTION_CREATE] = { "+", "to create" },
	[ACTION_UPDATE] = { "~", "to update" },
	[ACTION_REPLACE] = { "±", "to replace" },
	[ACTION_DELETE] = { "-", "to delete" },
	[ACTION_RUN] = { "↻", "to run" },
};

const char *action_type_sign(enum action_type type)
{
	return words[type].sign;
}

void totals_summary(const size_t *totals, size_t follow, struct buf *out)
{
	static const enum action_type order[] = {
		ACTION_RUN,     ACTION_CREATE, ACTION_UPDATE,
		ACTION_REPLACE, ACTION_DELETE,
	};
	size_t same = totals[ACTION_NOOP] - follow;
	const char *between = "";
	size_t i;

	for (i = 0; i < COUNT(order); i++) {
		if (!totals[order[i]])
			continue;
		buf_printf(out, "%s%zu %s", between, totals[order[i]],
			   words[order[i]].summary);
		between = ", ";
	}
	if (follow) {
		buf_printf(out, "%s%zu to follow", between, follow);
		between = ", ";
	}
	if (same)
		buf_printf(out, "%s%zu %s", between, same,
			   words[ACTION_NOOP].summary);
}

void plan_summary(const struct plan *plan, struct buf *out)
{
	size_t totals[ACTION_TYPE_COUNT];
	size_t i;

	for (i = 0; i < ACTION_TYPE_COUNT; i++)
		totals[i] = plan_total(plan, (enum action_type)i);
	totals_summary(totals, plan_follow_count(plan), out);
}
