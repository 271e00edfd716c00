/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds jobs that were applied in a set and are in none of its files any more,
 * and plans to delete them, like any other action.
 *
 * A set had the jobs that the providers' labels or the store name; either is
 * enough.  A job that another set has too is kept.
 */
#ifndef JOBRUN_PRUNE_H
#define JOBRUN_PRUNE_H

#include "core/apply/remains.h"
#include "core/store/store.h"

struct prune_scope {
	struct store *store;
	const char *set;
	/* The jobs in the files, for their providers and places. */
	struct job *const *jobs;
	size_t job_count;
	bool take_over; /* end runs of jobs of another origin, too */
	const struct provider *const *providers; /* all, up to NULL */
	const struct boundary *boundary;         /* of the files; may be NULL */
	void *(*context)(void *arg, const struct provider *provider,
			 struct error *err);
	void *arg;
};

/* A job that is gone from the set. */
struct gone {
	const char *job_id;
	const struct provider *provider;
	const char *file; /* it came from, in the set's directory; or NULL */
	const char
		*origin; /* of that file, for the caller to fill in; or NULL */
	const char *also_in;    /* another set, for which it is kept; or NULL */
	struct remains remains; /* filled in by prune_plan() */
};

struct prune {
	struct arena *mem;
	struct gone *items; /* by job and provider */
	size_t count;
};

/* Looks which jobs are gone. */
int prune_find(const struct prune_scope *scope, struct prune *out,
	       struct error *err);
void prune_done(struct prune *prune);

/* Adds the deletion of all their resources to the plan, which borrows them.
 * The caller must hold the locks of these jobs to apply it. */
int prune_plan(struct prune *prune, const struct prune_scope *scope,
	       struct plan *plan, struct error *err);

/* It is deleted, or kept: the set does not have it any more. */
int prune_forget(const struct gone *gone, const struct prune_scope *scope,
		 struct error *err);

#endif
