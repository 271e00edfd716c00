/* SPDX-License-Identifier: Apache-2.0 */
/* How the fields of a job are used on TPU nodes. */
#include "providers/tpunode/tpunode.h"

const struct field_use tpu_node_uses[] = {
	{ "jobId", "the name of the run, and of what is made for it" },
	{ "labels", "labels of the TPU and the VMs" },
	{ "trainingInput.scaleTier", "that of its TPU" },
	{ "trainingInput.masterType",
	  "the type of the VMs, unless jobrun.tpu-node.machineType" },
	{ "trainingInput.workerType", "cloud_tpu" },
	{ "trainingInput.workerConfig.acceleratorConfig",
	  "the slice: one VM and one task for each of its hosts" },
	{ "trainingInput.masterConfig.acceleratorConfig",
	  "the slice: one VM and one task for each of its hosts" },
	{ "trainingInput.packageUris",
	  "files of this machine are unpacked and put into PYTHONPATH" },
	{ "trainingInput.pythonModule", "python3 -m, unless jobrun.command" },
	{ "trainingInput.args", "the last arguments of the program" },
	{ "trainingInput.jobDir", "--job-dir of the program" },
	{ "trainingInput.serviceAccount", "that of the VMs" },
	{ "trainingInput.scheduling.maxRunningTime",
	  "after it the run is cancelled" },
	{ "trainingInput.scheduling.maxWaitTime",
	  "see jobrun.tpu-node.waitForCapacity" },
	{ "jobrun", "as it says" },
	{ "jobrun.hosts", NULL },
	{ "jobrun.staging",
	  "how the run ended is kept below it, for other machines" },
	{ "jobrun.docker", "a container for each task" },
	{ "jobrun.conda", "setup and the program run in it" },
	{ "jobrun.checkpoints",
	  "those of the first task are kept, and every VM fetches what to go "
	  "on from; without a metric" },
	{ "jobrun.cleanup", "of TPU and VMs, when the run has ended" },
	{ "jobrun.source", "is copied to each VM" },
	{ "jobrun.setup", "runs once on each VM, before the program" },
	{ NULL, NULL },
};
