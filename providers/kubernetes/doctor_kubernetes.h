/* SPDX-License-Identifier: Apache-2.0 */
/* The part of `doctor` about the cluster of the user's kubeconfig: whether it
 * answers, to whom, what it has, and which rights it grants. */
#ifndef JOBRUN_DOCTOR_KUBERNETES_H
#define JOBRUN_DOCTOR_KUBERNETES_H

struct checks;
struct job;
struct kube;

/* Adds that there is no kubeconfig. */
void doctor_missing(struct checks *all);
void doctor_cluster(struct kube *kube, struct checks *all);
/* The same for a job, in its cluster and namespace: what it runs as, and its
 * queue. */
void doctor_cluster_job(struct kube *kube, const char *place,
			const struct job *job, struct checks *all);

#endif
