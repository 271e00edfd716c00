/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of `jobrun: kubernetes:`. */
#ifndef JOBRUN_KUBE_BLOCK_H
#define JOBRUN_KUBE_BLOCK_H

#include "core/job/message.h"

/* The object that runs the pods. */
enum kube_controller {
	CONTROLLER_AUTO, /* a JobSet if the cluster supports them */
	CONTROLLER_JOBSET,
	CONTROLLER_JOB,
};

/* How nodes with GPUs are selected. */
enum kube_gpu_selector {
	GPU_SELECTOR_GKE, /* by the label that GKE sets */
	GPU_SELECTOR_NONE,
};

/* The source of a volume's contents: exactly one is set. */
struct kube_volume {
	struct message_head head;
	const char *name;
	const char *path; /* the mount path in the container */
	const char *claim;
	const char *config_map;
	const char *secret;
	const char *host_path;
	const char *memory; /* a size, "8Gi" */
	bool read_only;
};

/* Which of Kubernetes' Pod Security Standards the pods follow. */
enum kube_pod_security {
	POD_SECURITY_AUTO, /* the namespace's standard */
	POD_SECURITY_RESTRICTED,
	POD_SECURITY_BASELINE,
};

/* What a JobSet makes anew for a restart. */
enum kube_restart {
	KUBE_RESTART_ALL,      /* all pods */
	KUBE_RESTART_POOL,     /* those of the pool whose pod has failed */
	KUBE_RESTART_IN_PLACE, /* none: containers start again in their pods */
};

enum kube_capacity {
	KUBE_CAPACITY_ANY,
	KUBE_CAPACITY_SPOT,
	KUBE_CAPACITY_FLEX_START,
	KUBE_CAPACITY_QUEUED,
};

struct kubernetes_block {
	struct message_head head;
	const char *kubeconfig; /* a file, or NULL */
	const char *context;
	const char *name_space;
	const char *launcher; /* an image with jobrun, or NULL */
	const char *queue;    /* of Kueue */
	const char *priority_class;
	const char *service_account;
	struct strings image_pull_secrets;
	struct pairs node_selector;
	struct messages volumes; /* of struct kube_volume */
	int controller;          /* enum kube_controller */
	int gpu_selector;        /* enum kube_gpu_selector */
	long ttl_s;              /* after the run's end; 0: until deleted */
	const char *pod;  /* merged into each pod's template, JSON; or NULL */
	const char *job;  /* the same for each Job */
	int capacity;     /* an enum kube_capacity */
	int pod_security; /* an enum kube_pod_security */
	bool limits;      /* also limit pods to what they request */
	const char *reservation;        /* or NULL */
	const char *required_topology;  /* a node label, or NULL */
	const char *preferred_topology; /* the same */
	int restart;                    /* enum kube_restart */
	const char *restart_agent;      /* an image, or NULL */
};

extern const struct message kubernetes_message;

#endif
