/* SPDX-License-Identifier: Apache-2.0 */
/* The part of `doctor` about Google Cloud: credentials, project, region, zone,
 * and whether the services answer. */
#ifndef JOBRUN_DOCTOR_GOOGLE_H
#define JOBRUN_DOCTOR_GOOGLE_H

#include <stdbool.h>

#include "providers/google/base/endpoint.h"

struct checks;
struct job;
struct provider_env;

void doctor_google(const struct provider_env *env, struct checks *all);

/* What a job needs of Google Cloud. */
struct google_need {
	enum google_service service; /* the one that runs it */
	const char *region;          /* of that service; NULL: it has none */
	bool zone;                   /* it needs a zone */
};

/* The same for a job, with its own project and zone: what is missing is bad. */
void doctor_google_job(const struct job *job, const struct provider_env *env,
		       const struct google_need *need, struct checks *all);

#endif
