/* SPDX-License-Identifier: Apache-2.0 */
/* One call of one of Google's APIs: JSON there, JSON back. */
#ifndef JOBRUN_API_H
#define JOBRUN_API_H

#include <jansson.h>

#include "providers/google/base/api_error.h"
#include "providers/google/base/endpoint.h"
#include "providers/google/google.h"

struct api_request {
	enum google_service service;
	const char *region; /* of an endpoint that has one */
	const char *method; /* "GET" */
	const char *path;   /* "v1/projects/p/jobs", encoded as it must be */
	const char *const *query; /* name, value, name, value … NULL */
	const json_t *body;       /* or NULL */
	/* Doing it twice is as doing it once: see HTTP_REPEATABLE.  GET is. */
	bool repeatable;
};

/* Zeroed (`= { 0 }`) it is ready for a call. */
struct api_answer {
	long status;              /* also of a call that failed; 0: no answer */
	json_t *body;             /* an object; NULL if the call failed */
	struct api_reason reason; /* of a call that failed */
};

void api_answer_done(struct api_answer *answer);

/*
 * Makes the call, with the credentials' token; one that is refused is fetched
 * anew, once.  An answer other than 2xx is a failure, see api_error.h; look at
 * `answer->status` for those that are none (404, 409).
 */
int api_call(struct google *google, const struct api_request *request,
	     struct api_answer *answer, struct error *err);

/* As http_do, with the credentials' token, and another if that is refused; for
 * what is not JSON there and back.  At most 8 headers. */
int api_send(struct google *google, const struct http_request *request,
	     struct http_response *response, struct error *err);

/* All pages of a list: `each` gets one after the other, and ends it with -1. */
int api_list(struct google *google, const struct api_request *request,
	     int (*each)(void *arg, const json_t *page, struct error *err),
	     void *arg, struct error *err);

/* Adds a segment of a path, with a '/' before it. */
void api_path_add(struct buf *path, const char *segment);

#endif
