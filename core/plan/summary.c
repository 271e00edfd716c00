/* SPDX-License-Identifier: Apache-2.0 */
/* The wording that all renderings for people share. */
#include "core/job/traits.h"
#include "core/provider/placeholder.h"
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

const char *action_remark(const struct action *action)
{
	if (action->type == ACTION_NOOP)
		return action->unread_secret
			       ? "a secret of it can't be read here: whether "
				 "it changed is unknown"
			       : NULL;
	if (action->drift == DRIFT_GONE)
		return "it was deleted outside jobrun";
	if (action->drift == DRIFT_CHANGED)
		return "it was changed outside jobrun";
	return NULL;
}

void plan_drift_text(const struct plan *plan, struct buf *out)
{
	size_t seen = plan_drift_count(plan, true);
	size_t unknown = plan_drift_count(plan, false);

	if (seen)
		buf_printf(out,
			   "%zu of these %s changed or deleted outside jobrun "
			   "since the last apply.",
			   seen, seen == 1 ? "was" : "were");
	if (seen && unknown)
		buf_putc(out, ' ');
	if (unknown)
		buf_printf(out,
			   "It is not known here whether %zu of these %s "
			   "changed by the files or outside jobrun.",
			   unknown, unknown == 1 ? "was" : "were");
}

const char *change_cause_name(enum change_cause cause)
{
	static const char *const names[] = {
		[CHANGE_UNKNOWN] = NULL,
		[CHANGE_FILE] = "file",
		[CHANGE_OUTSIDE] = "outside",
		[CHANGE_BOTH] = "both",
	};

	return names[cause];
}

const char *change_remark(const struct change *change)
{
	if (change->cause == CHANGE_OUTSIDE)
		return "changed outside jobrun";
	if (change->cause == CHANGE_BOTH)
		return "changed in the file and outside jobrun";
	return NULL;
}

bool change_is_sealed(const struct change *change)
{
	enum placeholder_type before = placeholder_type(change->before);
	enum placeholder_type after = placeholder_type(change->after);

	return before == PLACEHOLDER_SEALED && after == PLACEHOLDER_SEALED;
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

bool plan_job_ships(const struct plan_job *job)
{
	return job->job->source_digest.hex[0] &&
	       (!traits_have(job->provider->traits, TRAIT_THIS_MACHINE) ||
		job->job->jobrun.hosts.count);
}

bool plan_job_acts(const struct plan_job *job)
{
	size_t i;

	for (i = 0; i < job->action_count; i++)
		if (job->actions[i]->want &&
		    job->actions[i]->type != ACTION_NOOP)
			return true;
	return false;
}

void plan_job_warning(const struct plan_job *job, struct buf *out)
{
	if (plan_job_ships(job))
		source_warning(job->job, out);
}
