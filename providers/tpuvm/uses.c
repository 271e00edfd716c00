/* SPDX-License-Identifier: Apache-2.0 */
/* How the fields of a job are used on TPU VMs. */
#include "providers/google/tpu/tpu_uses.h"
#include "providers/tpuvm/tpuvm.h"

#define MACHINE USE_NOT_USED "the VMs are those of the TPU"
#define DISK USE_NOT_USED "the VMs have the disks of a TPU"

const struct field_use tpu_vm_uses[] = {
	{ "jobId", "names the run and the TPU" },
	{ "labels", "labels of the TPU" },
	{ "trainingInput.scaleTier", "the TPU of this tier" },
	{ "trainingInput.masterType", MACHINE },
	{ "trainingInput.workerConfig.acceleratorConfig",
	  "the slice: one task on each of its VMs" },
	{ "trainingInput.masterConfig.acceleratorConfig",
	  "the slice: one task on each of its VMs" },
	TPU_USES(DISK),
	{ "trainingInput.scheduling.maxWaitTime",
	  "see jobrun.tpu-vm.waitForCapacity" },
	{ "jobrun", USE_AS_DOCUMENTED },
	{ "jobrun.hosts", NULL },
	{ "jobrun.staging", "records how runs ended, for other machines" },
	{ "jobrun.docker", "a container for each task" },
	{ "jobrun.conda", "setup and the program run in it" },
	{ "jobrun.cleanup", "what happens to the TPU after the run" },
	{ "jobrun.source", "copied to each VM" },
	{ "jobrun.checkpoints", "the first task's are uploaded; every VM "
				"fetches the one to resume from" },
	{ "jobrun.setup", "runs once on each VM, before the program" },
	{ NULL, NULL },
};
