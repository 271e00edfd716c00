/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the provider share. */
#ifndef JOBRUN_KUBERNETES_INTERNAL_H
#define JOBRUN_KUBERNETES_INTERNAL_H

#include <pthread.h>

#include "core/listing.h"
#include "core/provider.h"
#include "core/store/store.h"
#include "providers/kubernetes/apiserver.h"
#include "providers/kubernetes/translate.h"

#define KUBE_POLL_MS 2000
#define KUBE_NAMESPACE_MAX 64

struct kube_overview;
struct kube_watch;

/* A cluster that was asked for. */
struct kube_cluster {
	char *key; /* its place without the namespace */
	struct apiserver *api;
	struct kube_cluster *next;
};

struct kube {
	struct provider_env env;
	pthread_mutex_t lock; /* of the lists */
	struct kube_cluster *clusters;
	struct kube_overview *overviews;
	struct kube_watch *watches;
};

/* Where something is. */
struct kube_at {
	struct apiserver *api;
	char name_space[KUBE_NAMESPACE_MAX];
};

/*
 * A place is "NAMESPACE@CONTEXT in KUBECONFIG": what the file does not say is
 * left out, and so is " in " without a kubeconfig.
 */
#define KUBE_ANYWHERE "@"
const char *kube_place(const struct job *job, struct arena *mem);
/* NULL: where things are if no job says where. */
int kube_find(struct kube *kube, const char *place, struct kube_at *out,
	      struct error *err);
/* Whether anything says where the cluster of a place is. */
bool kube_is_known(const char *place);

/* ---- objects (objects.c) ---------------------------------------------- */

/* A kind of the API. */
struct kube_type {
	const char *kind; /* "JobSet" */
	const char *root; /* "/apis/jobset.x-k8s.io/v1alpha2" */
	const char *plural;
};

extern const struct kube_type type_secret, type_config_map, type_service;
extern const struct kube_type type_job, type_jobset, type_pod, type_event;
extern const struct kube_type type_workload;

#define JOBSET_GROUP "jobset.x-k8s.io/v1alpha2"
#define KUEUE_GROUP "kueue.x-k8s.io/v1beta1"

/* "ROOT/namespaces/SPACE/PLURAL[/NAME]"; in `mem`. */
const char *type_path(const struct kube_type *type, const struct kube_at *at,
		      const char *name, struct arena *mem);
/* 1: there is none. */
int object_get(const struct kube_at *at, const struct kube_type *type,
	       const char *name, json_t **out, struct error *err);
/* Server-side apply.  `*out`, if not NULL, is what came back; with `dry_run`
 * nothing is changed.  `warning`, if not NULL, is new or NULL. */
int object_apply(const struct kube_at *at, const struct kube_type *type,
		 const json_t *object, bool dry_run, json_t **out,
		 char **warning, struct error *err);
/* Gone already is success.  `uid`, if not NULL, is whose deletion is meant. */
int object_delete(const struct kube_at *at, const struct kube_type *type,
		  const char *name, const char *uid, const char *propagation,
		  struct error *err);
/* Makes what the run needs beside it, where it is not there: it may have gone
 * with an earlier run. */
int objects_ensure(struct kube *kube, const struct kube_at *at,
		   const struct job *job, const struct kube_type *type,
		   struct error *err);
/* Makes `owner` (an object) the owner of all that the job has beside its run,
 * so that the cluster deletes them with it. */
int objects_own(const struct kube_at *at, const char *job_name,
		const json_t *owner, struct error *err);
/* The same, once for each run: `folder` is the run's. */
int objects_own_once(const struct kube_at *at, const char *job_name,
		     const json_t *owner, const char *folder,
		     struct error *err);
/* Deletes all that the job has beside its run. */
int objects_delete(const struct kube_at *at, const char *job_name,
		   struct error *err);

extern const struct kind kind_kube_secret;
extern const struct kind kind_kube_config_map;
extern const struct kind kind_kube_service;
extern const struct kind kind_kube_run;

/* Text at "metadata.NAME", of labels and of annotations, or "". */
const char *object_meta(const json_t *object, const char *name);
const char *object_label(const json_t *object, const char *name);
const char *object_note(const json_t *object, const char *name);
/* "True" of a condition of its status: its reason and message, or false. */
bool object_condition(const json_t *object, const char *type,
		      const json_t **out);

/* Adds what was listed. */
void object_listed(const struct kind *kind, const char *place,
		   const json_t *object, struct listing *out);

/* ---- records (record.c) ------------------------------------------------ */

/* What this machine remembers of a run. */
struct kube_record {
	struct run_record run;
	const char *place;
	const char *name; /* of its object */
	const char *uid;
	const char *properties; /* JSON: what was wanted, or NULL */
	const struct kube_type *type;
};

/* The newest run of the job here; 1: there is none. */
int record_get(struct kube *kube, const char *job_id, struct arena *mem,
	       struct kube_record *out, struct error *err);
/* An object that is there gets a record, unless it has one. */
int record_put(struct kube *kube, const struct job *job, const char *place,
	       const struct kube_type *type, const json_t *object,
	       struct error *err);

/* ---- how a run stands (state.c) ---------------------------------------- */

/* By the object alone: what its pods do is not known. */
enum run_state state_of(const json_t *object);
/* When it ended, or 0; since 1970. */
int64_t state_end_ms(const json_t *object);
/* Why it failed, as the object says it; in `mem`. */
const char *state_why(const json_t *object, struct arena *mem);

#endif
