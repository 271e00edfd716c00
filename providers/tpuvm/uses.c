/* SPDX-License-Identifier: Apache-2.0 */
/* How the fields of a job are used on TPU VMs. */
#include "providers/tpuvm/tpuvm.h"

#define MACHINE USE_NOT_USED "the VMs are those of the TPU"
#define ROLE USE_NOT_USED "the hosts of the TPU run one task each"
#define DISK USE_NOT_USED "the VMs have the disks of a TPU"
#define TF_VERSION USE_NOT_USED "the program brings its own TensorFlow"
#define IMAGE "runs in a container if jobrun.container is set"
#define COMMAND                                                                \
	"what that runs, unless jobrun.command or pythonModule; without it "   \
	"the image's own entry point"
#define ARGS "the arguments of that"
#define CONFIG(name)                                                           \
	{ "trainingInput." name ".imageUri", IMAGE },                          \
		{ "trainingInput." name ".containerCommand", COMMAND },        \
		{ "trainingInput." name ".containerArgs", ARGS },              \
		{ "trainingInput." name ".diskConfig", DISK },                 \
	{                                                                      \
		"trainingInput." name ".tpuTfVersion", TF_VERSION              \
	}

const struct field_use tpu_vm_uses[] = {
	{ "jobId", "the name of the run, and of the TPU" },
	{ "labels", "labels of the TPU" },
	{ "trainingInput.scaleTier", "that of its TPU" },
	{ "trainingInput.masterType", MACHINE },
	{ "trainingInput.workerType", "cloud_tpu" },
	{ "trainingInput.workerConfig.acceleratorConfig",
	  "the slice: one task on each of its VMs" },
	{ "trainingInput.masterConfig.acceleratorConfig",
	  "the slice: one task on each of its VMs" },
	{ "trainingInput.workerCount", "1, that of cloud_tpu" },
	{ "trainingInput.parameterServerType", ROLE },
	{ "trainingInput.parameterServerCount", ROLE },
	{ "trainingInput.parameterServerConfig", ROLE },
	{ "trainingInput.evaluatorType", ROLE },
	{ "trainingInput.evaluatorCount", ROLE },
	{ "trainingInput.evaluatorConfig", ROLE },
	CONFIG("masterConfig"),
	CONFIG("workerConfig"),
	{ "trainingInput.region", USE_NOT_USED "jobrun.zone says where" },
	{ "trainingInput.runtimeVersion",
	  USE_NOT_USED "runtimeVersion of the provider's block is that of the "
		       "TPU" },
	{ "trainingInput.pythonVersion",
	  USE_NOT_USED "the program runs by the python3 of the VMs" },
	{ "trainingInput.encryptionConfig",
	  USE_NOT_USED "the disks of the VMs are encrypted by Google's keys" },
	{ "trainingInput.network",
	  USE_NOT_USED "jobrun.network is that of the TPU" },
	{ "trainingInput.scheduling.priority",
	  USE_NOT_USED "queues of TPUs have no priorities" },
	{ "trainingInput.useChiefInTfConfig",
	  USE_NOT_USED "the tasks of a TPU have no chief" },
	{ "trainingInput.enableWebAccess",
	  USE_NOT_USED "'jobrun shell' opens a shell beside a task" },
	{ "trainingInput.packageUris",
	  "files of this machine are unpacked and put into PYTHONPATH" },
	{ "trainingInput.pythonModule", "python3 -m, unless jobrun.command" },
	{ "trainingInput.args", "the last arguments of the program" },
	{ "trainingInput.jobDir", "--job-dir of the program" },
	{ "trainingInput.serviceAccount", "that of the VMs" },
	{ "trainingInput.scheduling.maxRunningTime",
	  "after it the run is cancelled" },
	{ "trainingInput.scheduling.maxWaitTime",
	  "see jobrun.tpu-vm.waitForCapacity" },
	{ "jobrun", "as it says" },
	{ "jobrun.hosts", NULL },
	{ "jobrun.staging",
	  "how the run ended is kept below it, for other machines" },
	{ "jobrun.docker", "a container for each task" },
	{ "jobrun.conda", "setup and the program run in it" },
	{ "jobrun.cleanup", "of the TPU, when the run has ended" },
	{ "jobrun.source", "is copied to each VM" },
	{ "jobrun.checkpoints",
	  "those of the first task are kept, and every VM fetches what to go "
	  "on from" },
	{ "jobrun.setup", "runs once on each VM, before the program" },
	{ NULL, NULL },
};
