/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the API in general: their paths, operations on them, and access to
 * their parts. */
#ifndef JOBRUN_OBJECTS_H
#define JOBRUN_OBJECTS_H

#include "core/base/alloc.h"
#include "providers/kubernetes/api/apiserver.h"

#define KUBE_NAMESPACE_MAX 64

/* The place of an object. */
struct kube_at {
	struct apiserver *api;
	char name_space[KUBE_NAMESPACE_MAX];
};

/* A kind of the API. */
struct kube_type {
	const char *kind; /* "JobSet" */
	const char *root; /* "/apis/jobset.x-k8s.io/v1alpha2" */
	const char *plural;
};

extern const struct kube_type type_secret, type_config_map, type_service;
extern const struct kube_type type_job, type_jobset, type_pod, type_event;
extern const struct kube_type type_workload, type_namespace;
extern const struct kube_type type_local_queue;

#define JOBSET_GROUP "jobset.x-k8s.io/v1alpha2"
#define KUEUE_LABEL "kueue.x-k8s.io/queue-name"
#define KUEUE_GROUP "kueue.x-k8s.io/"
/* Kueue's own API, which has the position of each workload in its queue. */
#define KUEUE_VISIBILITY "visibility.kueue.x-k8s.io/"
#define KUEUE_PENDING "pendingworkloads"

/* Finds Kueue's kind in the newest version that the cluster has, of a group
 * above.  0: it has none; -1: it does not say. */
int kueue_type(const struct kube_at *at, const char *group,
	       const struct kube_type **out);

/* "ROOT/namespaces/SPACE/PLURAL[/NAME]"; in `mem`. */
const char *type_path(const struct kube_type *type, const struct kube_at *at,
		      const char *name, struct arena *mem);

/* Gets an object.  1: there is none. */
int object_get(const struct kube_at *at, const struct kube_type *type,
	       const char *name, json_t **out, struct error *err);
/* The same; also 1 if the object is another job's with a similar name. */
int object_get_own(const struct kube_at *at, const struct kube_type *type,
		   const char *name, const char *job_id, json_t **out,
		   struct error *err);
/* Server-side apply.  `*out`, if not NULL, is the resulting object; with
 * `dry_run` nothing is changed.  `warnings`, if not NULL, is new or NULL. */
int object_apply(const struct kube_at *at, const struct kube_type *type,
		 const json_t *object, bool dry_run, json_t **out,
		 json_t **warnings, struct error *err);
/* Deletes an object; already gone is success.  With `uid`, only the object with
 * that uid. */
int object_delete(const struct kube_at *at, const struct kube_type *type,
		  const char *name, const char *uid, const char *propagation,
		  struct error *err);
/* The same; `*out` is the object's last state, or NULL if the server does not
 * return it.  1: it does not exist. */
int object_take_away(const struct kube_at *at, const struct kube_type *type,
		     const char *name, const char *uid, const char *propagation,
		     json_t **out, struct error *err);

/* The string at "metadata.NAME", in labels, and in annotations, or "". */
const char *object_meta(const json_t *object, const char *name);
const char *object_label(const json_t *object, const char *name);
const char *object_note(const json_t *object, const char *name);
/* Whether a condition of its status is "True"; then sets its reason and
 * message. */
bool object_condition(const json_t *object, const char *type,
		      const json_t **out);
/* Fails, for good, if the object is not the job's. */
int object_check_owner(const json_t *object, const char *job_id,
		       struct error *err);

#endif
