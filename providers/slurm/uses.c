/* SPDX-License-Identifier: Apache-2.0 */
/* How the fields of a job are used on Slurm; plans also take the notes about
 * unused fields from here. */
#include "providers/slurm/slurm_uses.h"

#define NOT_USED USE_NOT_USED
#define IMAGE                                                                  \
	"run on the nodes by the runtime that they have; "                     \
	"jobrun.container.runtime none runs without it"
#define NO_DISK NOT_USED "nodes have the disks that they have"
#define COMMAND                                                                \
	"what the image runs, unless jobrun.command or pythonModule is set; "  \
	"by default the image's own entry point"
#define ARGS "the arguments of containerCommand, or of the entry point"
#define CONFIG(role, name)                                                     \
	{ "trainingInput." name, NULL },                                       \
		{ "trainingInput." name ".acceleratorConfig",                  \
		  "--gres of the " role },                                     \
		{ "trainingInput." name ".imageUri", IMAGE },                  \
		{ "trainingInput." name ".containerCommand", COMMAND },        \
		{ "trainingInput." name ".containerArgs", ARGS },              \
		{ "trainingInput." name ".diskConfig", NO_DISK },              \
	{                                                                      \
		"trainingInput." name ".tpuTfVersion",                         \
			NOT_USED "the program brings its own TensorFlow"       \
	}

const struct field_use slurm_uses[] = {
	{ "jobId", "the name of the job" },
	{ "labels", NOT_USED "Slurm's jobs have none" },
	{ "etag", NOT_USED "Slurm's jobs have none" },
	{ "trainingInput", NULL },
	{ "trainingInput.scaleTier", "how many nodes, and how large" },
	{ "trainingInput.masterType", "--cpus-per-task and --mem of the "
				      "master" },
	{ "trainingInput.workerType",
	  "--cpus-per-task and --mem of the workers" },
	{ "trainingInput.parameterServerType",
	  "--cpus-per-task and --mem of the parameter servers" },
	{ "trainingInput.evaluatorType",
	  "--cpus-per-task and --mem of the evaluators" },
	{ "trainingInput.workerCount", "how many nodes" },
	{ "trainingInput.parameterServerCount", "how many nodes" },
	{ "trainingInput.evaluatorCount", "how many nodes" },
	CONFIG("master", "masterConfig"),
	CONFIG("workers", "workerConfig"),
	CONFIG("parameter servers", "parameterServerConfig"),
	CONFIG("evaluators", "evaluatorConfig"),
	{ "trainingInput.packageUris", "put into PYTHONPATH on the nodes" },
	{ "trainingInput.pythonModule",
	  "started with python3 -m, unless jobrun.command is set" },
	{ "trainingInput.args", "the last arguments of the program" },
	{ "trainingInput.hyperparameters",
	  "a job array, one element per trial" },
	{ "trainingInput.region", NOT_USED "the cluster is where it is" },
	{ "trainingInput.jobDir", "passed to the program as --job-dir" },
	{ "trainingInput.runtimeVersion",
	  "decides whether TF_CONFIG says master or chief" },
	{ "trainingInput.pythonVersion",
	  NOT_USED "the program runs by the python3 of the nodes" },
	{ "trainingInput.encryptionConfig",
	  NOT_USED "the cluster's disks are its own" },
	{ "trainingInput.scheduling", NULL },
	{ "trainingInput.scheduling.maxRunningTime", "--time" },
	{ "trainingInput.scheduling.maxWaitTime",
	  NOT_USED "a job stays queued for as long as it takes" },
	{ "trainingInput.scheduling.priority",
	  NOT_USED "jobrun.slurm.nice and qos say who goes first" },
	{ "trainingInput.network", NOT_USED "nodes have their own" },
	{ "trainingInput.serviceAccount",
	  NOT_USED "the job runs as the user that submits it" },
	{ "trainingInput.useChiefInTfConfig",
	  "decides whether TF_CONFIG says master or chief" },
	{ "trainingInput.enableWebAccess",
	  NOT_USED "'srun --overlap' opens a shell beside a task" },
	{ "jobrun", USE_AS_DOCUMENTED },
	{ "jobrun.zone", NOT_USED "the cluster is where it is" },
	{ "jobrun.source", "copied into the directory that nodes share" },
	{ NULL, NULL },
};
