/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that is deleted by its ttl leaves word in the cluster that it has
 * succeeded: a small ConfigMap, so that no machine runs it again.
 */
#ifndef JOBRUN_SUCCESS_H
#define JOBRUN_SUCCESS_H

#include "providers/kubernetes/objects.h"

struct kind;
struct listing;
struct resource;

/* Leaves word of a run that has succeeded, if it has a ttl.  Where that can't
 * be, there is none. */
void success_put(const struct kube_at *at, const json_t *object);
/* Takes over what is known of a job's success, if that is newer.  `name` is
 * that of its objects. */
void success_show(const struct kube_at *at, const char *job_id,
		  const char *name, struct resource *found);
/* Whether somebody has left word of a run of that digest. */
bool success_is_known(const struct kube_at *at, const char *job_id,
		      const char *name, const char *digest);
/* None is success. */
int success_delete(const struct kube_at *at, const char *job_id,
		   const char *name, struct error *err);
/* Adds them as runs that are over. */
int success_list(const struct kube_at *at, const struct kind *kind,
		 const char *place, struct listing *out, struct error *err);

#endif
