/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of struct field_use that the providers of TPUs share. */
#ifndef JOBRUN_TPU_USES_H
#define JOBRUN_TPU_USES_H

#include "core/supervise/supervised_uses.h"

#define TPU_ROLE USE_NOT_USED "the hosts of the TPU run one task each"

/* `disk` is what becomes of the diskConfig of a role. */
#define TPU_USES(disk)                                                         \
	{ "trainingInput.workerType", "cloud_tpu" },                           \
		{ "trainingInput.workerCount", "1: the cloud_tpu" },           \
		{ "trainingInput.parameterServerType", TPU_ROLE },             \
		{ "trainingInput.parameterServerCount", TPU_ROLE },            \
		{ "trainingInput.parameterServerConfig", TPU_ROLE },           \
		{ "trainingInput.evaluatorType", TPU_ROLE },                   \
		{ "trainingInput.evaluatorCount", TPU_ROLE },                  \
		{ "trainingInput.evaluatorConfig", TPU_ROLE },                 \
		SUPERVISED_CONFIG_USES("masterConfig", disk),                  \
		SUPERVISED_CONFIG_USES("workerConfig", disk),                  \
		{ "trainingInput.region",                                      \
		  USE_NOT_USED "jobrun.zone says where" },                     \
		{ "trainingInput.runtimeVersion", USE_NOT_USED                 \
		  "runtimeVersion of the provider's block is that of the "     \
		  "TPU" },                                                     \
		{ "trainingInput.pythonVersion",                               \
		  USE_NOT_USED "the program runs by the python3 of the VMs" }, \
		{ "trainingInput.encryptionConfig", USE_NOT_USED               \
		  "the disks of the VMs are encrypted by Google's keys" },     \
		{ "trainingInput.network",                                     \
		  USE_NOT_USED "jobrun.network is that of the TPU" },          \
		{ "trainingInput.scheduling.priority",                         \
		  USE_NOT_USED "queues of TPUs have no priorities" },          \
		{ "trainingInput.useChiefInTfConfig",                          \
		  USE_NOT_USED "the tasks of a TPU have no chief" },           \
		{ "trainingInput.enableWebAccess",                             \
		  USE_NOT_USED "'jobrun shell' opens a shell beside a task" }, \
		{ "trainingInput.packageUris",                                 \
		  "files of this machine are unpacked and put into "           \
		  "PYTHONPATH" },                                              \
		{ "trainingInput.pythonModule",                                \
		  "started with python3 -m, unless jobrun.command is set" },   \
		{ "trainingInput.args", "the last arguments of the program" }, \
		{ "trainingInput.jobDir",                                      \
		  "passed to the program as --job-dir" },                      \
		{ "trainingInput.serviceAccount", "the account of the VMs" },  \
	{                                                                      \
		"trainingInput.scheduling.maxRunningTime",                     \
			"cancels the run after this time"                      \
	}

#endif
