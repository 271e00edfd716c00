/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan as it is kept in a file, to be applied later: what plan_json() has,
 * and of each job what the plan was made from.
 *
 *	{"jobrunPlan": 1, "formatVersion": 1, "inputs": {...},
 *	 "jobs": [{"jobId", ..., "actions": [...],
 *	           "file", "job", "source": {"sha256", "files"},
 *	           "observed": {ACTION ID: {"sha256", "attempt", ...}}}],
 *	 "summary": {...}}
 *
 * To apply one, the same inputs are planned anew and both are compared: what
 * is done is always what was just planned, and only if that is what was
 * saved.  Nothing in the file is believed.  What an action was not looked at
 * for ("notLookedAt") may be anything.
 */
#ifndef JOBRUN_PLAN_FILE_H
#define JOBRUN_PLAN_FILE_H

#include "core/plan/plan.h"

#define SAVED_VERSION 1

enum saved_verdict {
	SAVED_SAME,    /* it can be applied */
	SAVED_RESUMES, /* some of it was done for it; the rest can be */
	SAVED_STALE,   /* something has changed */
	SAVED_APPLIED, /* all of it has been done */
};

/* `inputs` (borrowed) say how the jobs were read; core does not look at them.
 * Returns new, or NULL. */
json_t *saved_json(const struct plan *plan, json_t *inputs, struct error *err);

/* The identity of a plan: a digest of all it says, which other plans, or plans
 * of the same jobs in another state, do not share. */
int saved_id(const json_t *saved, struct digest *out, struct error *err);

/*
 * `saved` is what was read from a file, `now` was just made.  `progress` is the
 * journal's record of it (core/apply/resume.h), or NULL: an apply of this same
 * plan that was killed or failed does not make it another plan.  Each conflict
 * adds a line to `why`.  A run that is left alone may have progressed.
 */
enum saved_verdict saved_compare(const json_t *saved, const json_t *now,
				 const json_t *progress, struct buf *why);

#endif
