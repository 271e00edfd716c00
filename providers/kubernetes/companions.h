/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of a job besides its run: Secret, ConfigMap and Service. */
#ifndef JOBRUN_COMPANIONS_H
#define JOBRUN_COMPANIONS_H

#include "providers/kubernetes/kube_internal.h"

extern const struct kind kind_kube_secret;
extern const struct kind kind_kube_config_map;
extern const struct kind kind_kube_service;

/*
 * Creates one: `body` comes from kube_translate(), and gets its contents.  For
 * a Secret, `values` are {"KEY": text}.
 */
int companion_make(const struct kube_at *at, const struct kube_type *type,
		   const struct job *job, json_t *body, const json_t *values,
		   struct error *err);

/* Creates the objects that the run needs if they are missing: an earlier run
 * may have removed them. */
int companions_ensure(struct kube *kube, const struct kube_at *at,
		      const struct job *job, const struct kube_type *type,
		      struct error *err);
/* The name of the companion of a type that the pods of a run's object need; or
 * NULL. */
const char *companion_of(const json_t *object, const struct kube_type *type);
/* Makes `owner`, a run's object, the owner of its companions, so that the
 * cluster deletes them with it.  Done once for each run: `folder` is the
 * run's. */
int companions_own(const struct kube_at *at, const json_t *owner,
		   const char *folder, struct error *err);
/* Deletes a companion if it is the job's. */
int companion_delete_own(const struct kube_at *at, const struct kube_type *type,
			 const char *name, const char *job_id,
			 struct error *err);
/* Deletes the companions of a run's object. */
int companions_delete(const struct kube_at *at, const json_t *owner,
		      const char *job_id, struct error *err);

#endif
