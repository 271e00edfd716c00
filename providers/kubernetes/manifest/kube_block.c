/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/kubernetes/manifest/kube_block.h"

#include "providers/kubernetes/manifest/kube_types.h"

#include <ctype.h>
#include <string.h>

#define NAME_MAX_LEN 63

/* Checks a label of RFC 1123, which names of volumes must be. */
static int check_name(const char *value, struct error *err)
{
	size_t i, len = strlen(value);

	for (i = 0; i < len; i++)
		if (!islower((unsigned char)value[i]) &&
		    !isdigit((unsigned char)value[i]) &&
		    (value[i] != '-' || i == 0 || i + 1 == len))
			break;
	if (len == 0 || i < len || len > NAME_MAX_LEN)
		return error_set(err, ERROR_INVALID,
				 "must be small letters, digits and '-', and "
				 "neither begin nor end with '-'");
	return 0;
}

static int check_path(const char *value, struct error *err)
{
	if (value[0] != '/' || strchr(value, ':'))
		return error_set(err, ERROR_INVALID,
				 "must be an absolute path without ':'");
	return 0;
}

/* Checks the name of a context.  In places the kubeconfig follows the context
 * after a blank (kube_internal.h). */
static int check_context(const char *value, struct error *err)
{
	if (!*value || value[strcspn(value, " \t\r\n")])
		return error_set(err, ERROR_INVALID,
				 "must be the name of a context, without "
				 "blanks");
	return 0;
}

/* Checks a size in bytes as Kubernetes writes it: 8Gi, 500M. */
static int check_size(const char *value, struct error *err)
{
	static const char *const units[] = { "",   "k",  "M",  "G", "T",
					     "Ki", "Mi", "Gi", "Ti" };
	size_t digits = strspn(value, "0123456789"), i;

	for (i = 0; digits && i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(value + digits, units[i]))
			return 0;
	return error_set(err, ERROR_INVALID, "must be a size such as 8Gi");
}

/* In the order of enum kube_controller. */
static const char *const controller_names[] = { "auto", "jobset", "job", NULL };

/* In the order of enum kube_gpu_selector. */
static const char *const gpu_selector_names[] = { "gke", "none", NULL };

/* In the order of enum kube_pod_security. */
static const char *const pod_security_names[] = { "auto", "restricted",
						  "baseline", NULL };

/* In the order of enum kube_restart. */
static const char *const restart_names[] = { "all", "pool", "in-place", NULL };

/* In the order of enum kube_capacity. */
static const char *const capacity_names[] = { "any", "spot", "flex-start",
					      "queued", NULL };

static const struct field volume_fields[] = {
	{ .name = "path",
	  .type = FIELD_STRING,
	  .flags = FIELD_REQUIRED,
	  .check = check_path,
	  .offset = offsetof(struct kube_volume, path),
	  .doc = "Where the tasks find it." },
	{ .name = "claim",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct kube_volume, claim),
	  .doc = "The PersistentVolumeClaim that it is." },
	{ .name = "configMap",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct kube_volume, config_map),
	  .doc = "The ConfigMap whose keys are its files." },
	{ .name = "secret",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct kube_volume, secret),
	  .doc = "The Secret whose keys are its files." },
	{ .name = "hostPath",
	  .type = FIELD_STRING,
	  .check = check_path,
	  .offset = offsetof(struct kube_volume, host_path),
	  .doc = "The directory of the node that it is." },
	{ .name = "memory",
	  .type = FIELD_STRING,
	  .check = check_size,
	  .offset = offsetof(struct kube_volume, memory),
	  .doc = "The size of a file system in memory, for instance 8Gi: "
		 "what loaders of data want at /dev/shm." },
	{ .name = "readOnly",
	  .type = FIELD_BOOL,
	  .offset = offsetof(struct kube_volume, read_only),
	  .doc = "Whether tasks may not write to it." },
	{ .name = NULL },
};

static const struct message message_volume = {
	.name = "KubernetesVolume",
	.doc = "A directory of the tasks, from exactly one of claim, "
	       "configMap, secret, hostPath and memory.",
	.size = sizeof(struct kube_volume),
	.fields = volume_fields,
};

static const struct field fields[] = {
	{ .name = "kubeconfig",
	  .type = FIELD_STRING,
	  .flags = FIELD_PATH,
	  .offset = offsetof(struct kubernetes_block, kubeconfig),
	  .doc = "The kubeconfig of the cluster, by default $KUBECONFIG or "
		 "~/.kube/config.  One in the repository may hold a "
		 "certificate or a token, but no exec, tokenFile, "
		 "auth-provider or proxy-url." },
	{ .name = "context",
	  .type = FIELD_STRING,
	  .check = check_context,
	  .offset = offsetof(struct kubernetes_block, context),
	  .doc = "The context of that file; by default its current one." },
	{ .name = "namespace",
	  .type = FIELD_STRING,
	  .check = check_name,
	  .offset = offsetof(struct kubernetes_block, name_space),
	  .doc = "The namespace to run in; by default the context's." },
	{ .name = "launcher",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct kubernetes_block, launcher),
	  .doc = "An image that has jobrun in its PATH.  From it each pod "
		 "gets jobrun before its program starts, and starts it with "
		 "'jobrun launch': for jobrun.checkpoints, jobrun.data and "
		 "the variables of every framework, and for trials of "
		 "trainingInput.hyperparameters.  'make image' in jobrun's "
		 "sources makes it; the program's own image needs nothing." },
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
	{ .name = "volumes",
	  .type = FIELD_NAMED,
	  .message = &message_volume,
	  .check = check_name,
	  .offset = offsetof(struct kubernetes_block, volumes),
	  .doc = "Volumes of the tasks, by name.  One called run holds "
		 "JOBRUN_RUN_DIR, which otherwise disappears with its pod." },
	{ .name = "controller",
	  .type = FIELD_ENUM,
	  .values = controller_names,
	  .fallback = "auto",
	  .fallback_1 = "auto",
	  .offset = offsetof(struct kubernetes_block, controller),
	  .doc = "What runs the pods: a JobSet, or an Indexed Job, which every "
		 "cluster has.  auto takes a JobSet if the cluster has them." },
	{ .name = "gpuSelector",
	  .type = FIELD_ENUM,
	  .values = gpu_selector_names,
	  .fallback = "gke",
	  .fallback_1 = "gke",
	  .offset = offsetof(struct kubernetes_block, gpu_selector),
	  .doc = "How to find nodes with the right GPU: gke by the label "
		 "cloud.google.com/gke-accelerator, none by nodeSelector "
		 "alone." },
	{ .name = "capacity",
	  .type = FIELD_ENUM,
	  .values = capacity_names,
	  .fallback = "any",
	  .offset = offsetof(struct kubernetes_block, capacity),
	  .doc = "Which GKE nodes to take: spot, which may be taken away; "
		 "flex-start, created for the job and kept for at most 7 days; "
		 "or queued, provisioned all at once by a request that a Kueue "
		 "queue makes." },
	{ .name = "reservation",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct kubernetes_block, reservation),
	  .doc = "The Compute Engine reservation whose nodes to take." },
	{ .name = "requiredTopology",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct kubernetes_block, required_topology),
	  .doc = "With a Kueue queue: the node label, for instance "
		 "cloud.google.com/gce-topology-block, for which all pods of a "
		 "role must share one value." },
	{ .name = "preferredTopology",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct kubernetes_block, preferred_topology),
	  .doc = "The same if possible; otherwise the pods are spread." },
	{ .name = "podSecurity",
	  .type = FIELD_ENUM,
	  .values = pod_security_names,
	  .fallback = "auto",
	  .offset = offsetof(struct kubernetes_block, pod_security),
	  .doc = "The Pod Security Standard that pods keep to: restricted, "
		 "which runs no program as root, baseline, or auto: restricted "
		 "where the namespace enforces it or warns of what is not." },
	{ .name = "limits",
	  .type = FIELD_BOOL,
	  .offset = offsetof(struct kubernetes_block, limits),
	  .doc = "Whether to limit pods to the CPUs and the memory that they "
		 "request, for namespaces whose quota demands limits." },
	{ .name = "restart",
	  .type = FIELD_ENUM,
	  .values = restart_names,
	  .fallback = "all",
	  .offset = offsetof(struct kubernetes_block, restart),
	  .doc = "What a JobSet makes anew when jobrun.restart starts again: "
		 "all pods; pool: only the pods like the one that failed "
		 "(JobSet 0.12, its feature RestartJob); or in-place: no pod, "
		 "as containers start again on their nodes (JobSet 0.11, its "
		 "feature InPlaceRestart, Kubernetes 1.35).  A cluster without "
		 "it makes all pods anew." },
	{ .name = "restartAgent",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct kubernetes_block, restart_agent),
	  .doc = "For restart: in-place, the image of JobSet's "
		 "in-place-restart-agent, which runs beside each program.  "
		 "serviceAccount names an account that may get, list and watch "
		 "JobSets and patch pods." },
	{ .name = "ttl",
	  .type = FIELD_DURATION,
	  .offset = offsetof(struct kubernetes_block, ttl_s),
	  .doc = "How long the job's objects stay after its end.  A small "
		 "ConfigMap keeps the fact that it succeeded, if somebody "
		 "followed it or looked at it by then." },
	{ .name = "pod",
	  .type = FIELD_TREE,
	  .check_tree = kube_pod_check,
	  .offset = offsetof(struct kubernetes_block, pod),
	  .doc = "More of the pods' metadata and spec, as in a pod template, "
		 "merged as 'kubectl patch --type strategic' "
		 "does: tolerations, affinity, securityContext.  The "
		 "program's container is called main." },
	{ .name = "job",
	  .type = FIELD_TREE,
	  .check_tree = kube_job_check,
	  .offset = offsetof(struct kubernetes_block, job),
	  .doc = "More metadata and spec of the Job, or of the JobSet and each "
		 "of its Jobs." },
	{ .name = NULL },
};

const struct message kubernetes_message = {
	.name = "KubernetesBlock",
	.doc = "Settings for Kubernetes.",
	.size = sizeof(struct kubernetes_block),
	.fields = fields,
};
