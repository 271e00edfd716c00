/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one call of a Google API: JSON in both directions. */
#ifndef JOBRUN_API_H
#define JOBRUN_API_H

#include <jansson.h>

#include "providers/google/base/api_error.h"
#include "providers/google/base/endpoint.h"
#include "providers/google/google.h"

struct api_request {
	enum google_service service;
	const char *region;       /* for a service with regional endpoints */
	const char *method;       /* "GET" */
	const char *path;         /* "v1/projects/p/jobs", already encoded */
	const char *const *query; /* name, value, name, value … NULL */
	const json_t *body;       /* or NULL */
	/* The call is idempotent: see HTTP_REPEATABLE.  GET always is. */
	bool repeatable;
};

/* Zeroed (`= { 0 }`) it is ready for a call. */
struct api_answer {
	long status;              /* also set on failure; 0: no answer */
	json_t *body;             /* an object; NULL if the call failed */
	struct api_reason reason; /* set on failure */
};

void api_answer_done(struct api_answer *answer);

/*
 * Makes the call with the credentials' token; a rejected token is fetched
 * again, once.  An answer other than 2xx is a failure, see api_error.h; check
 * `answer->status` for acceptable ones (404, 409).
 */
int api_call(struct google *google, const struct api_request *request,
	     struct api_answer *answer, struct error *err);

/* Like http_do(), with the credentials' token, fetched again if rejected; for
 * requests or answers that are not JSON.  At most 8 headers. */
int api_send(struct google *google, const struct http_request *request,
	     struct http_response *response, struct error *err);

/* Gets all pages of a list: calls `each` with one after the other, until it
 * returns -1. */
int api_list(struct google *google, const struct api_request *request,
	     int (*each)(void *arg, const json_t *page, struct error *err),
	     void *arg, struct error *err);

/* Adds a segment to a path, with a '/' before it. */
void api_path_add(struct buf *path, const char *segment);

#endif
