/* SPDX-License-Identifier: Apache-2.0 */
/* The Job message of AI Platform Training v1, for projects.jobs.create. */
#ifndef JOBRUN_AIPLATFORM_BODY_H
#define JOBRUN_AIPLATFORM_BODY_H

#include <jansson.h>

#include "core/job/job.h"

/*
 * Converts the job to the API's form of int64 and durations; a missing
 * scaleTier becomes BASIC.  `name` is the jobId to use, `packages` the gs://
 * URLs that replace packageUris (NULL: as in the file), `labels` are added to
 * the job's own.  Returns new.
 */
json_t *ai_platform_body(const struct job *job, const char *name,
			 const struct strings *packages,
			 const struct pairs *labels);

#endif
