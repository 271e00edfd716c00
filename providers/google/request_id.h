/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for requests that change something: by them a service knows that the
 * second of two is the first, repeated.  They follow from the name of the
 * action (struct resource's `once`), so that a process that resumes one sends
 * what the killed one sent.
 */
#ifndef JOBRUN_REQUEST_ID_H
#define JOBRUN_REQUEST_ID_H

#include "providers/google/api.h"

struct request_ids; /* how many requests of an action were answered */

struct request_ids *request_ids_new(void);
void request_ids_free(struct request_ids *ids);

/*
 * Makes the call, with a requestId.  `once` may be NULL: then nobody can
 * repeat it.  `target` is the path of what it makes or deletes, or NULL: where
 * the service says that all was done long ago and the thing shows otherwise,
 * things have changed since, and it is done once more.
 */
int request_once(struct google *google, const char *once,
		 const struct api_request *request, const char *target,
		 struct api_answer *answer, struct error *err);
/* What came of the request is known: the same, asked for again, is another. */
void request_answered(struct google *google, const char *once,
		      const char *method, const char *path);

#endif
