/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of pods and Jobs that jobrun sets itself, and the job's fields for
 * them. */
#include "providers/kubernetes/manifest/kube_types.h"

#define THE_NAME "jobrun finds its objects by that"
#define THE_NAMESPACE "use jobrun.kubernetes.namespace"
#define THE_NUMBER "use trainingInput.workerCount"
#define THE_RESTARTS "use jobrun.restart"
#define THE_TIME "use trainingInput.scheduling.maxRunningTime"
#define THE_ACCOUNT "use jobrun.kubernetes.serviceAccount"

static const struct body_owned of_pod[] = {
	{ "metadata.name", THE_NAME },
	{ "metadata.generateName", THE_NAME },
	{ "metadata.namespace", THE_NAMESPACE },
	{ "metadata.ownerReferences", THE_NAME },
	{ "metadata.labels.jobrun*", THE_NAME },
	{ "metadata.labels.batch.kubernetes.io/*", THE_NAME },
	{ "metadata.labels.jobset.sigs.k8s.io/*", THE_NAME },
	{ "spec.activeDeadlineSeconds", THE_TIME },
	{ "spec.restartPolicy", THE_RESTARTS },
	{ "spec.terminationGracePeriodSeconds", "use jobrun.grace" },
	{ "spec.serviceAccountName", THE_ACCOUNT },
	{ "spec.serviceAccount", THE_ACCOUNT },
	{ "spec.priorityClassName", "use jobrun.kubernetes.priorityClass" },
	{ "spec.imagePullSecrets", "use jobrun.kubernetes.imagePullSecrets" },
	{ "spec.nodeSelector", "use jobrun.kubernetes.nodeSelector" },
	{ "spec.hostname", "peers find each other by that" },
	{ "spec.subdomain", "peers find each other by that" },
	{ "spec.containers[main].image",
	  "use trainingInput.masterConfig.imageUri" },
	{ "spec.containers[main].command", "use jobrun.command" },
	{ "spec.containers[main].args", "use trainingInput.args" },
	{ "spec.containers[main].env", "use jobrun.env" },
	{ "spec.containers[main].workingDir", "use jobrun.source" },
	{ NULL, NULL },
};

static const struct body_owned of_job[] = {
	{ "apiVersion", "use jobrun.kubernetes.controller" },
	{ "kind", "use jobrun.kubernetes.controller" },
	{ "status", "the cluster writes that" },
	{ "metadata.name", THE_NAME },
	{ "metadata.generateName", THE_NAME },
	{ "metadata.namespace", THE_NAMESPACE },
	{ "metadata.ownerReferences", THE_NAME },
	{ "metadata.labels.jobrun*", THE_NAME },
	{ "metadata.annotations.jobrun*", THE_NAME },
	{ "metadata.labels.kueue.x-k8s.io/queue-name",
	  "use jobrun.kubernetes.queue" },
	{ "spec.activeDeadlineSeconds", THE_TIME },
	{ "spec.backoffLimit", THE_RESTARTS },
	{ "spec.podFailurePolicy", THE_RESTARTS },
	{ "spec.completionMode", THE_NUMBER },
	{ "spec.completions", THE_NUMBER },
	{ "spec.parallelism", THE_NUMBER },
	{ "spec.selector", THE_NAME },
	{ "spec.manualSelector", THE_NAME },
	{ "spec.template", "use jobrun.kubernetes.pod" },
	{ "spec.ttlSecondsAfterFinished", "use jobrun.kubernetes.ttl" },
	{ NULL, NULL },
};

const struct body_form kube_pod_form = {
	.types = &kube_types,
	.root = "PodTemplateSpec",
	.owned = of_pod,
};

const struct body_form kube_job_form = {
	.types = &kube_types,
	.root = "Job",
	.owned = of_job,
};

void kube_pod_check(const json_t *body, tree_tell *tell, void *ctx)
{
	body_check(&kube_pod_form, body, tell, ctx);
}

void kube_job_check(const json_t *body, tree_tell *tell, void *ctx)
{
	body_check(&kube_job_form, body, tell, ctx);
}
