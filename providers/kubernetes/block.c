/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/block.h"

static const struct field fields[] = {
	{ .name = "kubeconfig",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct kubernetes_block, kubeconfig),
	  .doc = "The file that says how to reach the cluster, if it is "
		 "not $KUBECONFIG or ~/.kube/config." },
	{ .name = "context",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct kubernetes_block, context),
	  .doc = "The context to use of that file, if it is not the "
		 "current one." },
	{ .name = "namespace",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct kubernetes_block, name_space),
	  .doc = "The namespace to run in, if it is not the context's." },
	{ .name = "queue",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct kubernetes_block, queue),
	  .doc = "The Kueue queue to wait in." },
	{ .name = "priorityClass",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct kubernetes_block, priority_class),
	  .doc = "The priority class of the pods." },
	{ .name = "serviceAccount",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct kubernetes_block, service_account),
	  .doc = "The Kubernetes service account that the pods run as." },
	{ .name = "imagePullSecrets",
	  .type = FIELD_STRINGS,
	  .offset = offsetof(struct kubernetes_block, image_pull_secrets),
	  .doc = "The secrets to pull the image with." },
	{ .name = "nodeSelector",
	  .type = FIELD_PAIRS,
	  .offset = offsetof(struct kubernetes_block, node_selector),
	  .doc = "Labels that nodes must have." },
	{ .name = "ttl",
	  .type = FIELD_DURATION,
	  .offset = offsetof(struct kubernetes_block, ttl_s),
	  .doc = "How long the job's objects stay after its end." },
	{ .name = NULL },
};

const struct message kubernetes_message = {
	.name = "KubernetesBlock",
	.doc = "What only kubernetes has.",
	.size = sizeof(struct kubernetes_block),
	.fields = fields,
};
