/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds jobs that were applied in a set and are no longer in any of its files,
 * and plans to delete them, like any other action.
 *
 * A job was in the set if the provider's labels or the store say so; either is
 * enough.  A job that is also in another set is kept.
 */
#ifndef JOBRUN_PRUNE_H
#define JOBRUN_PRUNE_H

#include "core/apply/remains.h"
#include "core/store/store.h"

struct prune_scope {
	struct store *store;
	const char *set;
	/* The jobs in the files, whose providers and places are searched. */
	struct job *const *jobs;
	size_t job_count;
	bool take_over; /* also end runs of jobs of another origin */
	/* all providers, NULL-terminated */
	const struct provider *const *providers;
	const struct boundary *boundary; /* of the files; may be NULL */
	void *(*context)(void *arg, const struct provider *provider,
			 struct error *err);
	void *arg;
};

/* A job that is no longer in the set. */
struct gone {
	const char *job_id;
	const struct provider *provider;
	/* the file that it came from, in the set's directory; or NULL */
	const char *file;
	/* that file's origin, for the caller to fill in; or NULL */
	const char *origin;
	/* another set that has the job, which is then kept; or NULL */
	const char *also_in;
	struct remains remains; /* filled in by prune_plan() */
};

struct prune {
	struct arena *mem;
	struct gone *items; /* by job and provider */
	size_t count;
};

/* Finds the jobs that are gone. */
int prune_find(const struct prune_scope *scope, struct prune *out,
	       struct error *err);
void prune_done(struct prune *prune);

/* Adds the deletion of all resources of those jobs to the plan, which borrows
 * them.  To apply the plan, the caller must hold the locks of these jobs. */
int prune_plan(struct prune *prune, const struct prune_scope *scope,
	       struct plan *plan, struct error *err);

/* Removes the job from the set, after it was deleted or kept. */
int prune_forget(const struct gone *gone, const struct prune_scope *scope,
		 struct error *err);

#endif
