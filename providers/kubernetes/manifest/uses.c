/* SPDX-License-Identifier: Apache-2.0 */
/* How the fields of a job are used in a cluster; plans also take the reasons
 * for unused fields from here. */
#include "providers/kubernetes/manifest/kube_uses.h"

#include <assert.h>
#include <string.h>

#include "core/base/text.h"

#define LEFT_OUT USE_LEFT_OUT
#define PACE                                                                   \
	LEFT_OUT "a JobSet starts its pods again at once; a Job waits 10 s, "  \
		 "twice as long each time, and at most 6 minutes"
#define ELSEWHERE                                                              \
	LEFT_OUT "the cluster is where it is: nodeSelector chooses among its " \
		 "zones"
#define IN_IMAGE LEFT_OUT "the container image takes its place"
#define OWN_TENSORFLOW                                                         \
	LEFT_OUT "the container image brings its own TensorFlow and libtpu"
#define REQUESTS(role)                                                         \
	"what each pod of the " role " requests: what such a node can give"
#define CONTAINER(role) "the container of each pod of the " role

const struct field_use kubernetes_uses[] = {
	{ "jobId", "names the objects, in lower case" },
	{ "labels", "labels of the objects, beside jobrun's own" },
	{ "etag", LEFT_OUT "objects have none of ours" },
	{ "trainingInput", NULL },
	{ "trainingInput.scaleTier", "how many pods, and what they request" },
	{ "trainingInput.masterType", REQUESTS("master") },
	{ "trainingInput.workerType",
	  REQUESTS("workers") "; cloud_tpu: a pod for each host of the TPU" },
	{ "trainingInput.parameterServerType", REQUESTS("parameter servers") },
	{ "trainingInput.evaluatorType", REQUESTS("evaluators") },
	{ "trainingInput.workerCount", "how many pods" },
	{ "trainingInput.parameterServerCount", "how many pods" },
	{ "trainingInput.evaluatorCount", "how many pods" },
	{ "trainingInput.masterConfig", CONTAINER("master") },
	{ "trainingInput.masterConfig.tpuTfVersion", OWN_TENSORFLOW },
	{ "trainingInput.workerConfig", CONTAINER("workers") },
	{ "trainingInput.workerConfig.tpuTfVersion", OWN_TENSORFLOW },
	{ "trainingInput.parameterServerConfig",
	  CONTAINER("parameter servers") },
	{ "trainingInput.parameterServerConfig.tpuTfVersion", OWN_TENSORFLOW },
	{ "trainingInput.evaluatorConfig", CONTAINER("evaluators") },
	{ "trainingInput.evaluatorConfig.tpuTfVersion", OWN_TENSORFLOW },
	{ "trainingInput.packageUris",
	  "not possible: packages are not installed there: build them into the "
	  "image, or set jobrun.source" },
	{ "trainingInput.pythonModule",
	  "started with python3 -m, unless jobrun.command is set" },
	{ "trainingInput.args", "the last arguments of the program" },
	{ "trainingInput.hyperparameters", "an Indexed Job, one pod per trial; "
					   "needs jobrun.kubernetes.launcher" },
	{ "trainingInput.hyperparameters.resumePreviousJobId",
	  "not possible: only AI Platform resumes trials of another job" },
	{ "trainingInput.hyperparameters.enableTrialEarlyStopping",
	  LEFT_OUT "nothing compares trials in the cluster: each runs to its "
		   "end" },
	{ "trainingInput.region", ELSEWHERE },
	{ "trainingInput.jobDir", "passed to the program as --job-dir" },
	{ "trainingInput.runtimeVersion", IN_IMAGE },
	{ "trainingInput.pythonVersion", IN_IMAGE },
	{ "trainingInput.encryptionConfig",
	  LEFT_OUT "the cluster's disks have keys of their own" },
	{ "trainingInput.scheduling", NULL },
	{ "trainingInput.scheduling.maxRunningTime", "activeDeadlineSeconds" },
	{ "trainingInput.scheduling.maxWaitTime",
	  LEFT_OUT "a job stays queued for as long as it takes: 'jobrun wait "
		   "--timeout' gives up on it" },
	{ "trainingInput.scheduling.priority",
	  LEFT_OUT "priorities have names there: set "
		   "jobrun.kubernetes.priorityClass" },
	{ "trainingInput.network",
	  LEFT_OUT "pods are in the cluster's network" },
	{ "trainingInput.serviceAccount",
	  LEFT_OUT "pods run as one of the cluster's: set "
		   "jobrun.kubernetes.serviceAccount" },
	{ "trainingInput.useChiefInTfConfig",
	  "decides whether TF_CONFIG says master or chief" },
	{ "trainingInput.enableWebAccess",
	  LEFT_OUT "'kubectl exec' opens a shell in a pod" },
	{ "jobrun", USE_AS_DOCUMENTED },
	{ "jobrun.zone", ELSEWHERE },
	{ "jobrun.source",
	  "becomes a ConfigMap, in whose folder the program starts" },
	{ "jobrun.setup", "not possible: no setup step runs there: build it "
			  "into the image" },
	{ "jobrun.secrets",
	  "become a Secret, created before the pods and deleted after them" },
	{ "jobrun.restart", "the failure policies of Job and JobSet" },
	{ "jobrun.restart.maxPreemptions",
	  "counts like maxRestarts; left out beside it" },
	{ "jobrun.restart.backoff", PACE },
	{ "jobrun.restart.maxBackoff", PACE },
	{ NULL, NULL },
};

const char *kube_why(const char *path)
{
	const struct field_use *use = kubernetes_uses;

	while (use->path && strcmp(use->path, path) != 0)
		use++;
	assert(use->path && text_starts(use->doc, LEFT_OUT));
	return use->doc + strlen(LEFT_OUT);
}
