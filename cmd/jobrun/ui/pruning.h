/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles the set of a directory's jobs for 'plan' and 'apply': remembers it,
 * and with --prune deletes jobs that it had and no longer has.  See
 * core/apply/applyset.h and core/apply/prune.h.
 */
#ifndef JOBRUN_PRUNING_H
#define JOBRUN_PRUNING_H

#include "cmd/jobrun/ui/saved_plan.h"
#include "cmd/jobrun/ui/session.h"
#include "core/apply/prune.h"

struct pruning {
	const struct inputs *inputs;
	char *set; /* NULL: the jobs form no set */
	struct session *session;
	struct prune_scope scope;
	struct prune found;
};

/* Refuses inputs that can't be pruned, and names the set.  Borrows `inputs`;
 * the caller calls pruning_done(), also after a failure. */
int pruning_open(struct pruning *pruning, const struct inputs *inputs,
		 struct error *err);
void pruning_done(struct pruning *pruning);

/* Loads the jobs of the paths: with --prune there may be none. */
int pruning_load(struct pruning *pruning, const struct app *app,
		 const struct schema_options *schema, struct jobs *out);

/*
 * Finds the jobs that are gone, if requested.  Fails if the file of one still
 * exists: then the job was not removed, but its file damaged.
 */
int pruning_find(struct pruning *pruning, struct session *session,
		 const struct jobs *jobs, struct error *err);

/* Takes the locks of the jobs and of those that are gone. */
int pruning_lock(struct pruning *pruning, const struct jobs *jobs,
		 long timeout_s, struct error *err);

/* Adds the deletion of the gone jobs to the session's plan, and says which are
 * kept. */
int pruning_plan(struct pruning *pruning, struct error *err);

/* To be called before the plan is executed: records that resources made from
 * now on belong to the set. */
int pruning_remember(struct pruning *pruning, const struct jobs *jobs,
		     struct error *err);

/* To be called afterwards; `is_done` says whether a job's deletion was done. */
int pruning_forget(struct pruning *pruning,
		   bool (*is_done)(void *arg, const struct job *job), void *arg,
		   struct error *err);

#endif
