/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run whose objects are deleted by their ttl leaves a record in the cluster
 * that it has succeeded: a small ConfigMap, so that no machine runs it again.
 */
#ifndef JOBRUN_SUCCESS_H
#define JOBRUN_SUCCESS_H

#include "providers/kubernetes/manifest/objects.h"

struct kind;
struct listing;
struct resource;

/* Records that a run has succeeded, if it has a ttl.  Failures are ignored. */
void success_put(const struct kube_at *at, const json_t *object);
/* Takes over the record of a job's success, if it is newer.  `name` is that of
 * the job's objects. */
int success_show(const struct kube_at *at, const char *job_id, const char *name,
		 struct resource *found, struct error *err);
/* Returns 1 if the cluster has a record of that very run, 0 if it has none or
 * nobody may look, -1 if it could not be asked. */
int success_is_known(const struct kube_at *at, const char *job_id,
		     const char *name, const char *uid, const char *digest,
		     struct error *err);
/* A missing record is success. */
int success_delete(const struct kube_at *at, const char *job_id,
		   const char *name, struct error *err);
/* Adds the recorded runs, as runs that are over. */
int success_list(const struct kube_at *at, const struct kind *kind,
		 const char *place, struct listing *out, struct error *err);

#endif
