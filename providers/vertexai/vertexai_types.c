/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fields that a CustomJob may have: the discovery document of aiplatform
 * v1, revision 20261022, without those that the service sets.  core/job/body.h
 * explains the rows.
 */
#include "providers/vertexai/vertexai_types.h"

#include "core/base/alloc.h"

/* clang-format off */
static const struct body_type types[] = {
	{ "CustomJob",
	  "displayName encryptionSpec:EncryptionSpec "
	  "jobSpec:CustomJobSpec labels:{s}" },
	{ "EncryptionSpec",
	  "kmsKeyName" },
	{ "CustomJobSpec",
	  "baseOutputDirectory:GcsDestination enableDashboardAccess:b "
	  "enableWebAccess:b experiment experimentRun models:[s] "
	  "network persistentResourceId protectedArtifactLocationId "
	  "pscInterfaceConfig:PscInterfaceConfig reservedIpRanges:[s] "
	  "scheduling:Scheduling serviceAccount tensorboard "
	  "workerPoolSpecs:[WorkerPoolSpec]@#" },
	{ "GcsDestination",
	  "outputUriPrefix" },
	{ "PscInterfaceConfig",
	  "dnsPeeringConfigs:[DnsPeeringConfig] networkAttachment" },
	{ "DnsPeeringConfig",
	  "domain targetNetwork targetProject" },
	{ "Scheduling",
	  "disableRetries:b maxWaitDuration "
	  "restartJobOnWorkerRestart:b strategy timeout" },
	{ "WorkerPoolSpec",
	  "containerSpec:ContainerSpec diskSpec:DiskSpec "
	  "lustreMounts:[LustreMount] machineSpec:MachineSpec "
	  "nfsMounts:[NfsMount] pythonPackageSpec:PythonPackageSpec "
	  "replicaCount:w" },
	{ "ContainerSpec",
	  "args:[s] command:[s] env:[EnvVar] imageUri" },
	{ "EnvVar",
	  "name value" },
	{ "DiskSpec",
	  "bootDiskSizeGb:i bootDiskType" },
	{ "LustreMount",
	  "filesystem instanceIp mountPoint volumeHandle" },
	{ "MachineSpec",
	  "acceleratorCount:i acceleratorType gpuPartitionSize "
	  "machineType reservationAffinity:ReservationAffinity "
	  "tpuTopology" },
	{ "ReservationAffinity",
	  "key reservationAffinityType values:[s]" },
	{ "NfsMount",
	  "mountPoint path server" },
	{ "PythonPackageSpec",
	  "args:[s] env:[EnvVar] executorImageUri packageUris:[s] "
	  "pythonModule" },
};

const struct body_types vertex_types = {
	.items = types,
	.count = COUNT(types),
};
