/* SPDX-License-Identifier: Apache-2.0 */
/* The Job message of AI Platform Training v1, as projects.jobs.create takes
 * it. */
#ifndef JOBRUN_AIPLATFORM_BODY_H
#define JOBRUN_AIPLATFORM_BODY_H

#include <jansson.h>

#include "core/job/job.h"

/*
 * Translates the file, int64 and durations as the API has them; a missing
 * scaleTier is BASIC.  `name` is the jobId to use, `packages` the gs:// URLs
 * that take the place of packageUris (NULL: as the file has them), `labels` are
 * added to the job's own.  Returns new.
 */
json_t *ai_platform_body(const struct job *job, const char *name,
			 const struct strings *packages,
			 const struct pairs *labels);

#endif
