/* SPDX-License-Identifier: Apache-2.0 */
/* Long-running operations: what a service has begun and not finished. */
#ifndef JOBRUN_OPERATION_H
#define JOBRUN_OPERATION_H

#include <stdbool.h>

#include "providers/google/api.h"

struct operation {
	bool done;
	bool failed; /* it is done, and `failure` says why not */
	struct error failure;
	const json_t *response; /* borrowed from what was read; or NULL */
};

/* From an operation as SERVICE_COMPUTE has them, or the others. */
void operation_read(enum google_service service, const json_t *body,
		    struct operation *out);

/*
 * Looks once.  `path` is below the service's ("v2/" and the operation's name,
 * "projects/P/zones/Z/operations/N").  `answer` keeps what `out` borrows.
 */
int operation_look(struct google *google, enum google_service service,
		   const char *region, const char *path,
		   struct api_answer *answer, struct operation *out,
		   struct error *err);

/*
 * The same until it is done; `answer` is the call's that began it.  Blocks, for
 * `patience_s` at most: ERROR_TRY_AGAIN.  `version` ("v1beta1/") stands before
 * the operation's name.
 */
int operation_wait(struct google *google, enum google_service service,
		   const char *region, const char *version,
		   struct api_answer *answer, int patience_s,
		   struct error *err);

/* When an operation is looked at first, and then after twice as long, and so on:
 * a second, or JOBRUN_LOOK_MS. */
long operation_first_look_ms(void);

#endif
