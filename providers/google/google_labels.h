/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The labels of core/provider/listing.h on Google resources.  Their values are
 * at most 63 of a-z, 0-9, '-' and '_'
 * (https://cloud.google.com/compute/docs/labeling-resources#requirements).
 */
#ifndef JOBRUN_GOOGLE_LABELS_H
#define JOBRUN_GOOGLE_LABELS_H

#include <jansson.h>

#include "core/provider/listing.h"

#define GOOGLE_LABEL_MAX 64 /* including its NUL */
#define GOOGLE_LABELS 64    /* per resource */
#define GOOGLE_LABEL_ORIGIN "jobrun-origin"

/* Converts "My_job.1" to a valid label, "my_job_1". */
void google_label(const char *text, char out[GOOGLE_LABEL_MAX]);

/* The job's own labels, jobrun-job, jobrun-digest, jobrun-cleanup and
 * jobrun-origin.  Returns new. */
json_t *google_labels(const struct job *job);
/* Sets jobrun-expires: seconds since 1970. */
void google_labels_expire(json_t *labels, int64_t time_s);

/* Reads labels back; borrows from them.  `job_id` is the label's text, not the
 * original id; NULL: the resource is not ours. */
struct labels google_labels_read(const json_t *labels);

#endif
