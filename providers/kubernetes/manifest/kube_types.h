/* SPDX-License-Identifier: Apache-2.0 */
/* The fields that jobrun.kubernetes.pod and job may and may not have. */
#ifndef JOBRUN_KUBE_TYPES_H
#define JOBRUN_KUBE_TYPES_H

#include "core/job/body.h"

extern const struct body_types kube_types;
extern const struct body_form kube_pod_form; /* a pod template */
extern const struct body_form kube_job_form; /* metadata and spec of a Job */

void kube_pod_check(const json_t *body, tree_tell *tell, void *ctx);
void kube_job_check(const json_t *body, tree_tell *tell, void *ctx);

#endif
