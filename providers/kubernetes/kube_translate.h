/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job as Kubernetes objects: a JobSet with a replicated Job for each kind of
 * pod, or one Indexed Job with a headless service; a ConfigMap with the
 * source, a Secret for the secrets.
 *
 * Facts: the OpenAPI document of Kubernetes (batch/v1, v1), the
 * CustomResourceDefinition of jobset.x-k8s.io/v1alpha2, and of GKE's docs
 * "Plan TPUs in GKE" and "Run GPUs in GKE Standard node pools".
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

/* A field that has no place there. */
struct kube_left_out {
	const char *path; /* "trainingInput.scheduling.maxWaitTime" */
	const char *why;  /* and what to do instead */
	bool needed;      /* without it the job can't run */
};

#define KUBE_LEFT_MAX 64

/* Equal pods, in the order of the topology's tasks. */
struct kube_pool {
	const char *name; /* "master"; "node" of master and workers together */
	size_t first;     /* ordinal of its first task */
	size_t count;
};

#define KUBE_POOL_MAX TASK_TYPE_COUNT

/* What stands for the value of a secret in its properties. */
#define KUBE_SECRET_SHOWN "(secret)"

struct kube_job {
	const char *name;       /* of its objects */
	const char *name_space; /* or NULL: the context's */
	bool asks_namespace;    /* what it asks of pods decides */
	bool has_ttl;           /* see kube_has_ttl() */
	bool has_image;         /* all its pods have one */
	struct topology tasks;
	struct kube_pool pools[KUBE_POOL_MAX];
	size_t pool_count;
	/* Owned; see kube_job_done().  NULL: it needs none. */
	json_t *secret;     /* without its data */
	json_t *config_map; /* without its data: see source.h */
	json_t *service;    /* beside `indexed` */
	json_t *jobset;     /* NULL: its pods are trials */
	json_t *indexed;    /* NULL: its pods are too different for one Job */
	/* The result, for either kind of object. */
	json_t *properties;
	struct kube_left_out left[KUBE_LEFT_MAX];
	size_t left_count;
};

/* Strings live in `mem`.  Fails only where the job itself is wrong. */
int kube_translate(const struct job *job, const struct catalogue *catalogue,
		   struct arena *mem, struct kube_job *out, struct error *err);
void kube_job_done(struct kube_job *translated);

/* Adds to what has no place, once for each path. */
void kube_leave_out(struct kube_job *out, bool needed, const char *path,
		    const char *why);

/* Whether its objects go by themselves, some time after its end. */
bool kube_has_ttl(const struct job *job);

/* Whether its pods are those of an Indexed Job, whatever the cluster has. */
bool kube_wants_job(const struct job *job);

/* Whether something that has no place there is needed. */
bool kube_needs(const struct kube_job *translated);

/* Why an Indexed Job can't do it, or NULL. */
const char *kube_why_no_jobset(const struct kube_job *translated);

#endif
