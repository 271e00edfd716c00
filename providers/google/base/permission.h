/* SPDX-License-Identifier: Apache-2.0 */
/* The permission that a request takes, for those who do not have it. */
#ifndef JOBRUN_PERMISSION_H
#define JOBRUN_PERMISSION_H

#include "core/base/buf.h"
#include "providers/google/base/endpoint.h"

/* Appends "aiplatform.customJobs.list" for a path such as
 * "v1/projects/p/locations/r/customJobs".  Returns whether it is known. */
bool permission_add(enum google_service service, const char *method,
		    const char *path, struct buf *out);

#endif
