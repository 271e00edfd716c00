/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan saved in a file, to be applied later: the contents of plan_json(), and
 * for each job what the plan was made from.
 *
 *	{"jobrunPlan": 1, "formatVersion": 1, "inputs": {...},
 *	 "jobs": [{"jobId", ..., "actions": [...],
 *	           "file", "job", "source": {"sha256", "files"},
 *	           "observed": {ACTION ID: {"sha256", "attempt", ...}}}],
 *	 "summary": {...}}
 *
 * To apply a saved plan, the same inputs are planned again and both plans are
 * compared: apply always executes the new plan, and only if it equals the saved
 * one.  Nothing in the file is trusted.  Resources that were not looked at
 * ("notLookedAt") may be in any state.
 */
#ifndef JOBRUN_PLAN_FILE_H
#define JOBRUN_PLAN_FILE_H

#include "core/plan/plan.h"

#define SAVED_VERSION 1

enum saved_verdict {
	SAVED_SAME,    /* it can be applied */
	SAVED_RESUMES, /* an apply of it did some; the rest can be applied */
	SAVED_STALE,   /* something has changed */
	SAVED_APPLIED, /* all of it has been done */
};

/* `inputs` (borrowed) say how the jobs were read; core does not look at them.
 * Returns new, or NULL. */
json_t *saved_json(const struct plan *plan, json_t *inputs, struct error *err);

/* The identity of a plan: a digest of everything it says, which differs for
 * other plans, and for plans of the same jobs in another state. */
void saved_id(const json_t *saved, struct digest *out);

/*
 * `saved` was read from a file, `now` was just made.  `progress` is the
 * journal's record of the plan (core/apply/resume.h), or NULL: a killed or
 * failed apply of this same plan does not make it another plan.  Each conflict
 * adds a line to `why`.  A run that is left alone may have progressed.
 */
enum saved_verdict saved_compare(const json_t *saved, const json_t *now,
				 const json_t *progress, struct buf *why);

#endif
