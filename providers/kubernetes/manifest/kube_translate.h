/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translates a job to Kubernetes objects: a JobSet with a replicated Job for
 * each kind of pod, or one Indexed Job with a headless service; a ConfigMap
 * with the source, a Secret for the secrets.
 *
 * Facts: the OpenAPI document of Kubernetes (batch/v1, v1), the
 * CustomResourceDefinition of jobset.x-k8s.io/v1alpha2, and of GKE's docs "Plan
 * TPUs in GKE" and "Run GPUs in GKE Standard node pools".
 */
#ifndef JOBRUN_KUBE_TRANSLATE_H
#define JOBRUN_KUBE_TRANSLATE_H

#include <jansson.h>
#include <stdbool.h>

#include "core/base/alloc.h"
#include "core/base/error.h"
#include "core/job/catalogue.h"
#include "core/job/job.h"
#include "core/topology/topology.h"

/* A field without a counterpart there. */
struct kube_left_out {
	const char *path; /* "trainingInput.scheduling.maxWaitTime" */
	const char *why;  /* includes what to do instead */
	bool needed;      /* the job can't run without it */
};

#define KUBE_LEFT_MAX 64

/* Identical pods, in the order of the topology's tasks. */
struct kube_pool {
	const char *name; /* "master"; "node" for master and workers together */
	size_t first;     /* ordinal of its first task */
	size_t count;
};

#define KUBE_POOL_MAX TASK_TYPE_COUNT

/* Replaces the value of a secret in its properties. */
#define KUBE_SECRET_SHOWN "(secret)"

struct kube_job {
	const char *name;       /* of its objects */
	const char *name_space; /* NULL: the context's */
	bool asks_namespace;    /* the namespace's labels decide */
	bool has_ttl;           /* see kube_has_ttl() */
	bool has_image;         /* all its pods have an image */
	struct topology tasks;
	struct kube_pool pools[KUBE_POOL_MAX];
	size_t pool_count;
	/* Owned; see kube_job_done().  NULL: not needed. */
	json_t *secret;     /* without its values */
	json_t *config_map; /* without its contents: see kube_source.h */
	json_t *service;    /* beside `indexed` */
	json_t *jobset;     /* NULL: its pods are trials */
	/* The same with JobSet's own way of restarts, if it has another; else
	 * NULL. */
	json_t *plain_jobset;
	json_t *indexed; /* NULL: its pods differ too much for one Job */
	/* The run's properties, for either kind of object. */
	json_t *properties;
	struct kube_left_out left[KUBE_LEFT_MAX];
	size_t left_count;
};

/* Strings live in `mem`.  Fails only if the job itself is wrong. */
int kube_translate(const struct job *job, const struct catalogue *catalogue,
		   struct arena *mem, struct kube_job *out, struct error *err);
void kube_job_done(struct kube_job *translated);

/* Adds a field without a counterpart, once for each path. */
void kube_leave_out(struct kube_job *out, bool needed, const char *path,
		    const char *why);

/* Whether the cluster deletes its objects some time after its end. */
bool kube_has_ttl(const struct job *job);

/* Whether the job must be an Indexed Job, whatever the cluster supports. */
bool kube_wants_job(const struct job *job);

/* Whether a field without a counterpart is needed. */
bool kube_needs(const struct kube_job *translated);

/* Why the job can't be an Indexed Job, or NULL. */
const char *kube_why_no_jobset(const struct kube_job *translated);

#endif
