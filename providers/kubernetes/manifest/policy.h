/* SPDX-License-Identifier: Apache-2.0 */
/* `jobrun.restart` as failure policies of Jobs and JobSets. */
#ifndef JOBRUN_POLICY_H
#define JOBRUN_POLICY_H

#include "providers/kubernetes/manifest/kube_translate.h"

/* Adds backoffLimit and podFailurePolicy to the spec of a Job.  In a JobSet, a
 * Job fails with its first pod, and the JobSet decides. */
void policy_add_job(const struct job *job, bool in_jobset, json_t *spec,
		    struct arena *mem, struct kube_job *out);
/* How often its pods are restarted, for whatever reason. */
long policy_max_restarts(const struct job *job);
/* Adds failurePolicy to the spec of a JobSet; `how` is an enum kube_restart. */
void policy_add_jobset(const struct job *job, int how, json_t *spec);
/* Sets for each exit code whether the program starts again after it. */
#define POLICY_CODES 256
void policy_restarting(const struct job *job, bool codes[POLICY_CODES]);

#endif
