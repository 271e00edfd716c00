/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/vertexai/vertexai_uses.h"

#include "providers/google/managed/uses.h"

#define POOL(n) "workerPoolSpecs[" n "]"
#define MACHINE(n)                                                             \
	POOL(n)                                                                \
	".machineSpec.machineType; legacy types are their Compute Engine "     \
	"equivalents"
#define COUNT_OF(n) POOL(n) ".replicaCount"
#define CONFIG(n) "containerSpec and diskSpec of " POOL(n)
#define ACCELERATOR(n) "acceleratorType and acceleratorCount of " POOL(n)
#define TF_VERSION                                                             \
	USE_LEFT_OUT "the container brings its own TensorFlow and libtpu"

const struct field_use vertex_ai_uses[] = {
	{ "jobId", "displayName" },
	{ "labels", "labels, beside jobrun's own" },
	{ "etag", USE_LEFT_OUT "Vertex AI's jobs have none" },
	{ "trainingInput", NULL },
	{ "trainingInput.scaleTier", "expanded into workerPoolSpecs" },
	{ "trainingInput.masterType",
	  MACHINE("0") "; beside a TPU there is none: the program runs on the "
		       "TPU's own host" },
	{ "trainingInput.workerType",
	  MACHINE("1") "; cloud_tpu is the machine type of the TPU, in " POOL(
		  "0") },
	{ "trainingInput.parameterServerType", MACHINE("2") },
	{ "trainingInput.evaluatorType", MACHINE("3") },
	{ "trainingInput.workerCount", COUNT_OF("1") },
	{ "trainingInput.parameterServerCount", COUNT_OF("2") },
	{ "trainingInput.evaluatorCount", COUNT_OF("3") },
	{ "trainingInput.masterConfig", CONFIG("0") },
	{ "trainingInput.workerConfig", CONFIG("1") },
	{ "trainingInput.parameterServerConfig", CONFIG("2") },
	{ "trainingInput.evaluatorConfig", CONFIG("3") },
	{ "trainingInput.masterConfig.acceleratorConfig", ACCELERATOR("0") },
	{ "trainingInput.workerConfig.acceleratorConfig",
	  ACCELERATOR("1") "; of a TPU, its machine type and tpuTopology" },
	{ "trainingInput.parameterServerConfig.acceleratorConfig",
	  ACCELERATOR("2") },
	{ "trainingInput.evaluatorConfig.acceleratorConfig", ACCELERATOR("3") },
	{ "trainingInput.masterConfig.tpuTfVersion", TF_VERSION },
	{ "trainingInput.workerConfig.tpuTfVersion", TF_VERSION },
	{ "trainingInput.parameterServerConfig.tpuTfVersion", TF_VERSION },
	{ "trainingInput.evaluatorConfig.tpuTfVersion", TF_VERSION },
	{ "trainingInput.packageUris",
	  "pythonPackageSpec.packageUris of each pool; files of this machine "
	  "are uploaded first; a container image takes their place" },
	{ "trainingInput.pythonModule",
	  "pythonPackageSpec.pythonModule of each pool; a container image "
	  "takes its place" },
	{ "trainingInput.args", "args of each pool" },
	{ "trainingInput.hyperparameters",
	  "studySpec, maxTrialCount, parallelTrialCount and "
	  "maxFailedTrialCount of a HyperparameterTuningJob" },
	{ "trainingInput.hyperparameters.enableTrialEarlyStopping",
	  "studySpec.medianAutomatedStoppingSpec" },
	{ "trainingInput.hyperparameters.resumePreviousJobId",
	  USE_LEFT_OUT "Vertex AI can't go on with an earlier study: narrow "
		       "the ranges by what that found" },
	{ "trainingInput.region",
	  "the job's location, and the endpoint that jobrun asks" },
	{ "trainingInput.jobDir",
	  "baseOutputDirectory, and --job-dir of the program" },
	{ "trainingInput.runtimeVersion",
	  "pythonPackageSpec.executorImageUri: the prebuilt container of that "
	  "TensorFlow; a container image takes its place" },
	{ "trainingInput.pythonVersion",
	  "chooses among the prebuilt containers of runtimeVersion" },
	{ "trainingInput.encryptionConfig", "encryptionSpec" },
	{ "trainingInput.scheduling.maxRunningTime", "scheduling.timeout" },
	{ "trainingInput.scheduling.maxWaitTime",
	  USE_LEFT_OUT "Vertex AI keeps a job queued for as long as it takes, "
		       "but with strategy FLEX_START: 'jobrun wait --timeout' "
		       "gives up on it" },
	{ "trainingInput.scheduling.priority",
	  USE_LEFT_OUT "Vertex AI's queue has no priorities" },
	{ "trainingInput.network", "network" },
	{ "trainingInput.serviceAccount", "serviceAccount" },
	{ "trainingInput.useChiefInTfConfig",
	  USE_LEFT_OUT "Vertex AI's TF_CONFIG always says chief" },
	{ "trainingInput.enableWebAccess", "enableWebAccess" },
	{ "jobrun", NULL },
	{ "jobrun.extends", USE_AS_DOCUMENTED },
	{ "jobrun.provider", "vertex-ai is Vertex AI" },
	{ "jobrun.project", "the project that gets the job" },
	{ "jobrun.staging", "where packages are uploaded" },
	{ "jobrun.source", "packed as a Python package, uploaded, and put into "
			   "packageUris" },
	{ "jobrun.command",
	  "containerSpec.command of each pool; needs a container image" },
	{ "jobrun.setup",
	  USE_IMPOSSIBLE "no setup step runs there: build it into the image, "
			 "or name it in setup.py" },
	{ "jobrun.env", "env of each pool" },
	{ "jobrun.secrets",
	  USE_IMPOSSIBLE "Vertex AI shows a job's variables to all who can "
			 "read the job: let the program ask Secret Manager as "
			 "its serviceAccount" },
	{ "jobrun.metrics", "read from the log as it arrives" },
	{ "jobrun.onChange", USE_AS_DOCUMENTED },
	{ "jobrun.after", USE_AS_DOCUMENTED },
	{ "jobrun.vertex-ai", USE_AS_DOCUMENTED },
	{ NULL, NULL },
};
