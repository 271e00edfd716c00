/* SPDX-License-Identifier: Apache-2.0 */
/* The local record of a run: its entry in the store, and its tasks in the run's
 * folder, which are needed to read logs. */
#ifndef JOBRUN_RECORD_H
#define JOBRUN_RECORD_H

#include "providers/kubernetes/kube_internal.h"

struct kube_record {
	struct run_record run;
	const char *place;
	const char *name; /* of its object */
	const char *uid;
	/* The run's place, see whereabouts.h; "" in records of older
	 * versions. */
	const char *server, *ca, *context, *user, *name_space, *where;
	const struct kube_type *type;
	bool trials; /* its pods are trials */
};

/* Fills `out` from a given record; other strings live in `mem`. */
void record_take(struct kube_record *out, const struct run_record *run,
		 const json_t *properties, struct arena *mem);
/* The newest run of the job in the store; 1: there is none. */
int record_get(struct kube *kube, const char *job_id, struct arena *mem,
	       struct kube_record *out, struct error *err);
/* Adds a record for an existing object, unless it has one. */
int record_put(struct kube *kube, const struct job *job, const char *place,
	       const struct kube_at *at, const struct kube_type *type,
	       const json_t *object, struct error *err);
/* The same for a run that another machine has started. */
int record_put_found(struct kube *kube, const struct job *job,
		     const char *place, const struct kube_at *at,
		     const struct kube_type *type, const json_t *object,
		     struct error *err);

/* The desired properties stored in the object.  Returns new. */
json_t *record_wanted(struct kube *kube, const struct kube_record *record);
/* Adds the runs that are not listed yet; with `place`, only those there. */
int record_list(struct kube *kube, const struct kind *kind, const char *place,
		struct listing *out, struct error *err);

#endif
