/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that go on elsewhere, at a service or in a cluster, and what this
 * machine remembers of them: a record in the store, with properties by which
 * the provider finds the run again, and in the run's folder who its tasks are,
 * which is what logs are read by.
 */
#ifndef JOBRUN_REMOTE_RUN_H
#define JOBRUN_REMOTE_RUN_H

#include <jansson.h>

#include "core/provider/listing.h"
#include "core/provider/provider.h"
#include "core/spec/spec.h"
#include "core/store/store.h"

/*
 * The newest run of a job, if it is one of the provider's; strings live in
 * `mem`.  `*properties` is new.  1: there is none, or no store.
 */
int remote_run_get(const struct provider_env *env, const char *provider,
		   const char *job_id, struct arena *mem,
		   struct run_record *out, json_t **properties,
		   struct error *err);

/* Reads the properties of a given record; new, or NULL. */
json_t *remote_run_properties(const struct run_record *run);

/*
 * A run that is there gets a record, QUEUED: how it is is looked at later.
 * Properties are read with every look at every run: what is long is for
 * `*folder`, the run's (new; may be NULL).  The digests are those that it
 * keeps itself, `digest2` NULL or "" if it has none, and so is its origin.
 */
int remote_run_add(const struct provider_env *env, const char *provider,
		   const struct job *job, const char *digest,
		   const char *digest2, const char *origin,
		   const json_t *properties, char **folder, struct error *err);

/*
 * The record of a trial of the run, if it is not as in `known`, its trials in
 * the store.  Its folder, with the specification that its logs are read by, is
 * made with its first record; `spec` is the run's.
 */
int remote_run_put_trial(const struct provider_env *env,
			 const struct run_record *run,
			 const struct run_spec *spec,
			 const struct trial_list *known,
			 const struct trial_record *trial, struct arena *mem,
			 struct error *err);

/*
 * Adds those of the provider that are not in the listing yet, with the place
 * that `place_of` finds in their properties (in `mem`); with `place`, only
 * what is there.
 */
int remote_run_list(const struct provider_env *env, const char *provider,
		    const struct kind *kind,
		    const char *(*place_of)(const json_t *properties,
					    struct arena *mem),
		    const char *place, struct listing *out, struct error *err);

#endif
