/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requirements of Kubernetes' Pod Security Standards for pods, filled in
 * unless a job's file says otherwise.
 */
#ifndef JOBRUN_POD_SECURITY_H
#define JOBRUN_POD_SECURITY_H

#include <jansson.h>
#include <stdbool.h>

/* Fills in what a pod's spec lacks: the runtime's seccomp profile, and with
 * `restricted` everything else that the standard of that name requires. */
void pod_security_fill(json_t *spec, bool restricted);
/* The same for all pods of a Job or JobSet. */
void pod_security_restrict(json_t *object);

#endif
