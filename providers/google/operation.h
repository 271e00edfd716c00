/* SPDX-License-Identifier: Apache-2.0 */
/* Long-running operations: what a service has begun and not finished. */
#ifndef JOBRUN_OPERATION_H
#define JOBRUN_OPERATION_H

#include <stdbool.h>

#include "providers/google/api.h"

struct operation {
	bool done;
	bool failed; /* done without success: `failure` says why */
	struct error failure;
	const json_t *response; /* borrowed from the message; or NULL */
};

/* Parses an operation in the form of SERVICE_COMPUTE, or of the other
 * services. */
void operation_read(enum google_service service, const json_t *body,
		    struct operation *out);

/*
 * Looks once.  `path` is relative to the service ("v2/" and the operation's
 * name, "projects/P/zones/Z/operations/N").  `answer` owns what `out` borrows.
 */
int operation_look(struct google *google, enum google_service service,
		   const char *region, const char *path,
		   struct api_answer *answer, struct operation *out,
		   struct error *err);

/*
 * The same until it is done; `answer` is that of the call that began the
 * operation.  Blocks for `patience_s` at most, then ERROR_TRY_AGAIN.  `version`
 * ("v1beta1/") precedes the operation's name.
 */
int operation_wait(struct google *google, enum google_service service,
		   const char *region, const char *version,
		   struct api_answer *answer, int patience_s,
		   struct error *err);

/* The delay before the first look at an operation, which doubles after each
 * look: a second, or JOBRUN_LOOK_MS. */
long operation_first_look_ms(void);

#endif
