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
	{ "trainingInput.scaleTier", "how many processes of each role" },
	{ "trainingInput.masterType", MACHINE },
	{ "trainingInput.workerType",
	  "cloud_tpu: one process per host of the TPU; else " MACHINE },
	{ "trainingInput.parameterServerType", MACHINE },
	{ "trainingInput.evaluatorType", MACHINE },
	{ "trainingInput.workerCount", "how many processes" },
	{ "trainingInput.parameterServerCount", "how many processes" },
	{ "trainingInput.evaluatorCount", "how many processes" },
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
	{ "trainingInput.pythonModule",
	  "started with python3 -m, unless jobrun.command is set" },
	{ "trainingInput.args", "the last arguments of the program" },
	{ "trainingInput.hyperparameters",
	  "runs trials, with their values as arguments; on hosts, trials that "
	  "run side by side get separate hosts while there are enough" },
	{ "trainingInput.hyperparameters.maxFailedTrials",
	  "with 0, stops after 5 failures if no trial has succeeded" },
	{ "trainingInput.hyperparameters.enableTrialEarlyStopping",
	  "ends trials that are worse than the median of the others at the "
	  "same step" },
	{ "trainingInput.hyperparameters.algorithm",
	  "without it: a grid if maxTrials has room for one, else random "
	  "search" },
	{ "trainingInput.hyperparameters.resumePreviousJobId", NULL },
	{ "trainingInput.region", "only passed on in TPU_CONFIG" },
	{ "trainingInput.jobDir", "passed to the program as --job-dir" },
	{ "trainingInput.runtimeVersion",
	  "decides whether TF_CONFIG says master or chief" },
	{ "trainingInput.pythonVersion",
	  USE_NOT_USED "the program runs by the python3 that is there" },
	{ "trainingInput.useChiefInTfConfig",
	  "decides whether TF_CONFIG says master or chief" },
	{ "trainingInput.scheduling.priority",
	  "orders your own runs that wait for GPUs or for "
	  "jobrun.local.runsAtOnce" },
	{ "trainingInput.scheduling.maxRunningTime",
	  "cancels the run after this time" },
	{ "jobrun", USE_AS_DOCUMENTED },
	{ "jobrun.provider", "local, or nothing, is this machine" },
	{ "jobrun.project", "only passed on in TPU_CONFIG" },
	{ "jobrun.zone", "only passed on in TPU_CONFIG" },
	{ "jobrun.container", "runs masterConfig.imageUri, here or on hosts" },
	{ "jobrun.docker", "on hosts, a container for each task" },
	{ "jobrun.conda", "setup and the program run in it" },
	{ "jobrun.hosts", "machines to run on instead of this one, over ssh" },
	{ "jobrun.hostLease",
	  "with hosts: how long their tasks continue without a connection" },
	{ "jobrun.hostDirectory",
	  "with hosts: where jobrun keeps its files on them" },
	{ "jobrun.source",
	  "the program starts in that directory itself; on hosts, in a copy" },
	{ "jobrun.checkpoints",
	  "uploaded by a process beside the tasks; not for trials" },
	{ "jobrun.setup",
	  "runs once before the program; on hosts, once on each" },
	{ NULL, NULL },
};
