/* SPDX-License-Identifier: Apache-2.0 */
/* How the fields of a job are used on TPU nodes. */
#include "providers/google/tpu/tpu_uses.h"
#include "providers/tpunode/tpunode.h"

#define DISK USE_NOT_USED "the VMs have disks of the default size"

const struct field_use tpu_node_uses[] = {
	{ "jobId", "the name of the run, and of what is made for it" },
	{ "labels", "labels of the TPU and the VMs" },
	{ "trainingInput.scaleTier", "that of its TPU" },
	{ "trainingInput.masterType",
	  "the type of the VMs, unless jobrun.tpu-node.machineType" },
	{ "trainingInput.workerConfig.acceleratorConfig",
	  "the slice: one VM and one task for each of its hosts" },
	{ "trainingInput.masterConfig.acceleratorConfig",
	  "the slice: one VM and one task for each of its hosts" },
	TPU_USES(DISK),
	{ "trainingInput.scheduling.maxWaitTime",
	  "see jobrun.tpu-node.waitForCapacity" },
	{ "jobrun", USE_AS_DOCUMENTED },
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
