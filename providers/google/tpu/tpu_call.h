/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of tpu.googleapis.com, v1 or v2, on named resources:
 * "projects/P/locations/Z/nodes/N".
 */
#ifndef JOBRUN_TPU_CALL_H
#define JOBRUN_TPU_CALL_H

#include "providers/google/api.h"
#include "providers/google/tpu/tpu.h"

/* `path` does not include the version.  A POST without a requestId is not
 * repeatable. */
int tpu_call(struct google *google, enum tpu_api api, const char *method,
	     const char *path, const char *const *query, const json_t *body,
	     struct api_answer *answer, struct error *err);

/* `operation` is the path of the operation that creates it, in `mem`; NULL:
 * somebody else was faster, and it exists. */
int tpu_create(struct google *google, enum tpu_api api, const char *path,
	       const char *const *query, const json_t *body, struct arena *mem,
	       const char **operation, struct error *err);

/* Sets `out` to a new value, or to NULL if there is none. */
int tpu_get(struct google *google, enum tpu_api api, const char *path,
	    json_t **out, struct error *err);

/* Blocks until it is gone, for ten minutes at most; then, and if the service's
 * operation failed, ERROR_TRY_AGAIN.  Already gone is success. */
int tpu_delete(struct google *google, enum tpu_api api, const char *path,
	       struct error *err);

/* A change of the queue, whose requests have an id: see request_id.h. */
struct tpu_change {
	const char *once;
	const char *const *query;
	const char *version; /* of the API; NULL: v2 */
};

/* The same for places in the queue. */
int tpu_queue_create(struct google *google, const struct tpu_change *change,
		     const char *path, const char *name, const json_t *body,
		     struct error *err);
int tpu_queue_delete(struct google *google, const struct tpu_change *change,
		     const char *path, struct error *err);

/*
 * Gets all of a project's collection ("nodes", "queuedResources"), in all
 * zones.  `where` is "projects/P", which may continue; NULL: this machine's
 * configured project, if it has one; a lack of permission there is no error, as
 * jobrun then has made nothing there.
 */
int tpu_list(struct google *google, enum tpu_api api, const char *where,
	     const char *collection,
	     void (*each)(void *arg, const json_t *item), void *arg,
	     struct error *err);

#endif
