/* SPDX-License-Identifier: Apache-2.0 */
/* The secrets of a job: where each comes from, and how to get it. */
#ifndef JOBRUN_SECRET_H
#define JOBRUN_SECRET_H

#include <jansson.h>
#include <stdbool.h>

#include "core/base/error.h"
#include "core/job/job.h"

struct secret_source {
	const char *name;
	const char *env;  /* or NULL */
	const char *file; /* or NULL */
	const char *root; /* the folder that the file must be below, or NULL */
};

/* The value; returns new, which the caller wipes with explicit_bzero() before
 * freeing it.  Errors never contain any part of it. */
char *secret_value(const struct secret_source *from, struct error *err);

/* Whether the secret comes from a file. */
bool job_secret_is_file(const struct job *job, const char *name);

/* The value of the job's secret with that name, as JSON; returns new. */
json_t *job_secret(const struct job *job, const char *name, struct error *err);

#endif
