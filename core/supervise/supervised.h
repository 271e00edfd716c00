/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs owned by a supervisor of this machine (supervisor.h): the common part of
 * providers whose tasks run here, or on hosts reached from here.  They are
 * records of the store under the provider's name.
 *
 * The context of such a provider begins with a `struct supervised`; then its
 * run's kind can use these functions as they are.
 */
#ifndef JOBRUN_SUPERVISED_H
#define JOBRUN_SUPERVISED_H

#include "core/provider/provider.h"
#include "core/spec/spec.h"
#include "core/supervise/claim.h"

struct supervised {
	struct provider_env env;
	const char *provider; /* its name */
	/* Makes the specification of a run of this job; `want`, with all its
	 * values, is NULL for a forecast.  NULL: spec_from_job(), which it
	 * otherwise resembles. */
	int (*specify)(const struct supervised *as, const struct job *job,
		       const struct resource *want, struct arena *mem,
		       struct run_spec *out, const char **missing,
		       struct error *err);
	/* The objects of buckets, and how one is removed.  NULL: whose run it
	 * is, and how it ends, is kept here only. */
	struct claim_objects objects;
	/* Fails unless the object still has that version; "": any. */
	int (*remove_object)(void *arg, const char *url, const char *version,
			     struct error *err);
};

/* ERROR_FAILED if there is no store. */
int supervised_init(struct supervised *as, const struct provider_env *env,
		    const char *provider, struct error *err);

/* Notes how our trials differ from the service's, and what they cannot do. */
void supervised_check_trials(const struct job *job, const struct run_spec *spec,
			     struct resources *out);

/* The run itself, for every provider whose context is a struct supervised. */
extern const struct kind kind_supervised_run;

/* The kind's `enter`: here or on a host. */
int supervised_enter(void *ctx, const struct enter_wish *wish,
		     struct arena *mem, struct enter_way *out,
		     struct error *err);

/* The environment of the run with the job's digest if it exists, else of the
 * next run. */
int supervised_environment(void *ctx, const struct job *job,
			   enum task_type type, int index,
			   struct environment *out, struct error *err);

#endif
