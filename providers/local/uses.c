/* SPDX-License-Identifier: Apache-2.0 */
/* How the fields of a job are used on this machine. */
#include "core/supervise/supervised_uses.h"
#include "providers/local/local.h"

#define GPUS "GPUs of this machine, as jobrun.local.devices says"
#define MACHINE USE_NOT_USED "every task runs on this machine"
#define DISK USE_NOT_USED "the disks are this machine's, or the hosts'"
#define CONFIG(name)                                                           \
	{ "trainingInput." name, NULL }, SUPERVISED_CONFIG_USES(name, DISK)

const struct field_use local_uses[] = {
	{ "jobId", "the name of the run" },
	{ "labels", "select runs: 'jobrun status -l NAME=VALUE'" },
	{ "trainingInput.scaleTier", "its numbers of tasks, as processes" },
	{ "trainingInput.masterType", MACHINE },
	{ "trainingInput.workerType",
	  "cloud_tpu: one process per host of the TPU; else " MACHINE },
	{ "trainingInput.parameterServerType", MACHINE },
	{ "trainingInput.evaluatorType", MACHINE },
	{ "trainingInput.workerCount", "so many processes" },
	{ "trainingInput.parameterServerCount", "so many processes" },
	{ "trainingInput.evaluatorCount", "so many processes" },
	CONFIG("masterConfig"),
	{ "trainingInput.masterConfig.acceleratorConfig", GPUS },
	CONFIG("workerConfig"),
	{ "trainingInput.workerConfig.acceleratorConfig",
	  GPUS "; of a TPU: the processes and devices of its hosts, on the "
	       "CPU" },
	CONFIG("parameterServerConfig"),
	CONFIG("evaluatorConfig"),
	{ "trainingInput.packageUris",
	  "files of this machine are unpacked and put into PYTHONPATH" },
	{ "trainingInput.pythonModule", "python3 -m, unless jobrun.command" },
	{ "trainingInput.args", "the last arguments of the program" },
	{ "trainingInput.hyperparameters",
	  "trials; the values of each are arguments; on hosts those that run "
	  "at a time have hosts of their own, as far as there are enough" },
	{ "trainingInput.hyperparameters.maxFailedTrials",
	  "if it is 0: after 5 failed ones, if none has succeeded" },
	{ "trainingInput.hyperparameters.enableTrialEarlyStopping",
	  "those worse than the median of the others at the same step" },
	{ "trainingInput.hyperparameters.algorithm",
	  "if not set: a grid if maxTrials has room for it, else random" },
	{ "trainingInput.hyperparameters.resumePreviousJobId", NULL },
	{ "trainingInput.region", "in TPU_CONFIG only" },
	{ "trainingInput.jobDir", "--job-dir of the program" },
	{ "trainingInput.runtimeVersion",
	  "decides whether TF_CONFIG says master or chief" },
	{ "trainingInput.pythonVersion",
	  USE_NOT_USED "the program runs by the python3 that is there" },
	{ "trainingInput.useChiefInTfConfig",
	  "decides whether TF_CONFIG says master or chief" },
	{ "trainingInput.scheduling.priority",
	  "which of those that wait for jobrun.local.runsAtOnce or for GPUs "
	  "goes first" },
	{ "trainingInput.scheduling.maxRunningTime",
	  "after it the run is cancelled" },
	{ "jobrun", USE_AS_DOCUMENTED },
	{ "jobrun.provider", "local, or nothing, is this machine" },
	{ "jobrun.project", "in TPU_CONFIG only" },
	{ "jobrun.zone", "in TPU_CONFIG only" },
	{ "jobrun.container", "runs masterConfig.imageUri, here or on hosts" },
	{ "jobrun.docker", "on hosts, a container for each task" },
	{ "jobrun.conda", "setup and the program run in it" },
	{ "jobrun.hosts", "machines to run on instead of this one, over ssh" },
	{ "jobrun.hostLease",
	  "with hosts: how long they go on when nothing is heard of us" },
	{ "jobrun.hostDirectory",
	  "with hosts: where what jobrun keeps on them is" },
	{ "jobrun.source",
	  "the program starts in that directory itself; on hosts, in a copy" },
	{ "jobrun.checkpoints",
	  "kept by a process beside the tasks; not those of trials" },
	{ "jobrun.setup", "runs once, on hosts once on each, before the "
			  "program" },
	{ NULL, NULL },
};
