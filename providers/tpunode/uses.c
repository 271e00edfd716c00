/* SPDX-License-Identifier: Apache-2.0 */
/* How the fields of a job are used on TPU nodes. */
#include "providers/google/tpu/tpu_uses.h"
#include "providers/tpunode/tpunode.h"

#define DISK USE_NOT_USED "the VMs have disks of the default size"

const struct field_use tpu_node_uses[] = {
	{ "jobId", "names the run and all that is created for it" },
	{ "labels", "labels of the TPU and the VMs" },
	{ "trainingInput.scaleTier", "the TPU of this tier" },
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
	{ "jobrun.staging", "records how runs ended, for other machines" },
	{ "jobrun.docker", "a container for each task" },
	{ "jobrun.conda", "setup and the program run in it" },
	{ "jobrun.checkpoints",
	  "the first task's are uploaded; every VM fetches the one to resume "
	  "from; without a metric" },
	{ "jobrun.cleanup",
	  "what happens to the TPU and the VMs after the run" },
	{ "jobrun.source", "copied to each VM" },
	{ "jobrun.setup", "runs once on each VM, before the program" },
	{ NULL, NULL },
};
