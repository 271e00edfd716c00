/* SPDX-License-Identifier: Apache-2.0 */
/* The part of `doctor` about the cluster of the user's kubeconfig: whether it
 * answers, to whom, what it has, and which rights it grants. */
#ifndef JOBRUN_DOCTOR_KUBERNETES_H
#define JOBRUN_DOCTOR_KUBERNETES_H

struct checks;
struct kube;

/* Adds that there is no kubeconfig. */
void doctor_missing(struct checks *all);
void doctor_cluster(struct kube *kube, struct checks *all);

#endif
