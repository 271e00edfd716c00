/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run is one JobSet or Job, named after its job: names are unique at the API
 * server, so there is never a second one.  An earlier run must be gone before
 * the next is made; labels and annotations store the attempt, the digest and
 * the wanted properties.
 */
#ifndef JOBRUN_RUN_H
#define JOBRUN_RUN_H

#include "providers/kubernetes/kube_internal.h"

extern const struct kind kind_kube_run;

/* A JobSet if the cluster supports them, unless the job's file says
 * otherwise. */
int run_choose_type(const struct kube_at *at, const struct job *job,
		    const struct kube_type **out, struct error *err);
/* The object of a job's run, of the wanted type or else of the other one, which
 * an earlier file, or a cluster without JobSets, may have led to.  Sets `*type`
 * accordingly.  1: there is none. */
int run_get_either(const struct kube_at *at, const char *job_id,
		   const char *name, const struct kube_type **type,
		   json_t **out, struct error *err);
/* The object of a run of unknown type.  1: there is none. */
int run_look_for(const struct kube_at *at, const char *name,
		 const struct kube_type **type, json_t **out,
		 struct error *err);
/* Sets `found` from a run's object, or from the record left of one. */
void run_show(const json_t *object, enum run_state state, const char *why,
	      struct resource *found);
/* The attempt number within its job, from 1. */
int run_attempt_of(const json_t *object);

/* The calls of the kind (run_read.c, run_end.c): */
int run_read(void *ctx, const struct resource *want, struct resource *found,
	     struct error *err);
int run_adopt(void *ctx, const struct resource *run, struct error *err);
void run_adapt(struct resource *want, const struct resource *found);
int run_cancel(void *ctx, const struct resource *have, bool now,
	       struct error *err);
int run_delete(void *ctx, const struct resource *have, struct error *err);
/* For ending a run that only the cluster knows: whether it has ended, or is
 * gone. */
bool run_is_unknown(const struct resource *have);
int run_wait_unknown(struct kube *kube, const struct resource *have,
		     enum wait_state *state, struct error *err);

/* A run's body, with the parts that distinguish this run.  Returns new. */
json_t *run_complete(const struct resource *want, const json_t *request,
		     int attempt);

#endif
