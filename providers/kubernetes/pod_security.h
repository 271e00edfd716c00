/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requirements of Kubernetes' Pod Security Standards for pods, filled in
 * unless a job's file says otherwise.
 */
#ifndef JOBRUN_POD_SECURITY_H
#define JOBRUN_POD_SECURITY_H

#include <jansson.h>
#include <stdbool.h>

struct kube;
struct kube_at;

/* Fills in what a pod's spec lacks: the runtime's seccomp profile, and with
 * `restricted` everything else that the standard of that name requires. */
void pod_security_fill(json_t *spec, bool restricted);
/* The same for all pods of a Job or JobSet. */
void pod_security_restrict(json_t *object);

/* Whether a namespace enforces 'restricted' or warns about violations, as far
 * as its labels can be read.  Asked once for each. */
bool pod_security_is_restricted(struct kube *kube, const struct kube_at *at);

#endif
