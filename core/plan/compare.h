/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares a desired resource with the observed one and the one last applied.
 * Secrets are fetched for this, and leave here sealed (core/plan/seal.h) or not
 * at all.
 */
#ifndef JOBRUN_COMPARE_H
#define JOBRUN_COMPARE_H

#include "core/plan/diff.h"
#include "core/plan/plan.h"
#include "core/plan/seal.h"

/* Shared by the resources of one job. */
struct compare {
	struct store *store; /* has what was applied; NULL: nothing is known */
	struct arena *mem;   /* the plan's */
	json_t *keep;        /* an array that owns the values of changes */
	struct seal *seal;   /* made ready when first used */
	const struct plan_job *job;
	/* the actions decided so far, or NULL */
	struct action *const *by_place;
	struct applied_list applied;
	bool looked; /* the store was searched for what was applied */
	bool closed_secrets;
};

/* Fills in drift and unread_secret of the action, and its differences with
 * their causes into `out`. */
int compare_resource(struct compare *compare, struct action *action,
		     struct diff *out, struct error *err);

#endif
