/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets of a job: where each is taken from, and the taking. */
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
	const char *root; /* what the file must be below, or NULL */
};

/* The value; returns new, to be wiped with explicit_bzero() before it is
 * freed.  What the error says never holds any of it. */
char *secret_value(const struct secret_source *from, struct error *err);

/* Whether a file has to be opened for it. */
bool job_secret_is_file(const struct job *job, const char *name);

/* The value of the job's secret of that name as JSON; returns new. */
json_t *job_secret(const struct job *job, const char *name, struct error *err);

#endif
