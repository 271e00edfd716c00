/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of a job beside its run: Secret, ConfigMap and Service. */
#ifndef JOBRUN_COMPANIONS_H
#define JOBRUN_COMPANIONS_H

#include "providers/kubernetes/kube_internal.h"

extern const struct kind kind_kube_secret;
extern const struct kind kind_kube_config_map;
extern const struct kind kind_kube_service;

/*
 * Makes one: `body` is as kube_translate() has it, and gets its contents.
 * `values`, of a Secret, are {"KEY": text}.
 */
int companion_make(const struct kube_at *at, const struct kube_type *type,
		   const struct job *job, json_t *body, const json_t *values,
		   struct error *err);

/* Makes what the run needs beside it, where it is not there: it may have gone
 * with an earlier run. */
int companions_ensure(struct kube *kube, const struct kube_at *at,
		      const struct job *job, const struct kube_type *type,
		      struct error *err);
/* What the pods of a run's object need of a type beside them, by its name; or
 * NULL. */
const char *companion_of(const json_t *object, const struct kube_type *type);
/* Makes `owner`, a run's object, the owner of all that it needs beside it, so
 * that the cluster deletes them with it.  Once for each run: `folder` is the
 * run's. */
int companions_own(const struct kube_at *at, const json_t *owner,
		   const char *folder, struct error *err);
/* Deletes one, if it is the job's. */
int companion_delete_own(const struct kube_at *at, const struct kube_type *type,
			 const char *name, const char *job_id,
			 struct error *err);
/* Deletes what a run's object has beside it. */
int companions_delete(const struct kube_at *at, const json_t *owner,
		      const char *job_id, struct error *err);

#endif
