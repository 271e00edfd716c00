/* SPDX-License-Identifier: Apache-2.0 */
/* The ids that older versions gave to jobs without a jobId. */
#ifndef JOBRUN_KNOWN_H
#define JOBRUN_KNOWN_H

#include <pthread.h>
#include <stdbool.h>

struct job;
struct store;

struct known {
	pthread_mutex_t lock;
	struct store *store; /* opened at the first query, or NULL */
	bool opened;
};

void known_init(struct known *known);
void known_done(struct known *known);

/* Whether the store has a run with this id, of a job in the same file; for
 * struct schema_options. */
bool known_is(void *arg, const struct job *job, const char *job_id);

#endif
