/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that go on elsewhere, at a service or in a cluster, and what this
 * machine remembers of them: a record in the store, with properties by which
 * the provider finds the run again, and in the run's folder the list of its
 * tasks, which is needed to read logs.
 */
#ifndef JOBRUN_REMOTE_RUN_H
#define JOBRUN_REMOTE_RUN_H

#include <jansson.h>

#include "core/provider/listing.h"
#include "core/provider/provider.h"
#include "core/spec/spec.h"
#include "core/store/store.h"

/*
 * Gets the newest run of a job if it is one of the provider's; strings live in
 * `mem`.  `*properties` is new.  1: there is no such run, or no store.
 */
int remote_run_get(const struct provider_env *env, const char *provider,
		   const char *job_id, struct arena *mem,
		   struct run_record *out, json_t **properties,
		   struct error *err);

/* The properties of a given record; new, or NULL. */
json_t *remote_run_properties(const struct run_record *run);

/*
 * Adds a record, QUEUED, for an existing run; its real state is read later.
 * Properties are read at every look at every run, so long data belongs into
 * `*folder`, the run's (new; may be NULL).  The digests and the origin are
 * those that the run itself keeps; `digest2` is NULL or "" if it has none.
 * `began_ms` is when another machine has started the run; 0: now.  `tasks` are
 * those of a job of which only the id is known; NULL: the job's.
 */
int remote_run_add(const struct provider_env *env, const char *provider,
		   const struct job *job, const struct topology *tasks,
		   const char *digest, const char *digest2, const char *origin,
		   int64_t began_ms, const json_t *properties, char **folder,
		   struct error *err);

/*
 * Writes the record of a trial of the run, unless `known`, the run's trials in
 * the store, has it as it is.  The first record of a trial makes its folder,
 * with the specification needed to read its logs; `spec` is the run's.
 */
int remote_run_put_trial(const struct provider_env *env,
			 const struct run_record *run,
			 const struct run_spec *spec,
			 const struct trial_list *known,
			 const struct trial_record *trial, struct arena *mem,
			 struct error *err);

/*
 * Adds the provider's runs that the listing lacks, with the place that
 * `place_of` finds in their properties (in `mem`); with `place`, only the runs
 * there.
 */
int remote_run_list(const struct provider_env *env, const char *provider,
		    const struct kind *kind,
		    const char *(*place_of)(const json_t *properties,
					    struct arena *mem),
		    const char *place, struct listing *out, struct error *err);

#endif
