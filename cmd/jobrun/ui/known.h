/* SPDX-License-Identifier: Apache-2.0 */
/* The names that jobs without a jobId have kept from older versions. */
#ifndef JOBRUN_KNOWN_H
#define JOBRUN_KNOWN_H

#include <pthread.h>
#include <stdbool.h>

struct job;
struct store;

struct known {
	pthread_mutex_t lock;
	struct store *store; /* opened at the first question, or NULL */
	bool opened;
};

void known_init(struct known *known);
void known_done(struct known *known);

/* Whether a run in the store has this id and is of a job in the same file; for
 * struct schema_options. */
bool known_is(void *arg, const struct job *job, const char *job_id);

#endif
