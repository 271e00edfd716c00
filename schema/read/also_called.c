/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/read/also_called.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>

/* gcloud ai-platform jobs submit training, and Vertex AI's CustomJob. */
static const struct other_name {
	const char *name; /* camelCase */
	const char *field;
} names[] = {
	{ "name", "jobId" },
	{ "jobName", "jobId" },
	{ "displayName", "jobId" },
	{ "masterMachineType", "trainingInput.masterType" },
	{ "workerMachineType", "trainingInput.workerType" },
	{ "parameterServerMachineType", "trainingInput.parameterServerType" },
	{ "machineType", "trainingInput.masterType" },
	{ "masterImageUri", "trainingInput.masterConfig.imageUri" },
	{ "workerImageUri", "trainingInput.workerConfig.imageUri" },
	{ "parameterServerImageUri",
	  "trainingInput.parameterServerConfig.imageUri" },
	{ "image", "trainingInput.masterConfig.imageUri" },
	{ "containerUri", "trainingInput.masterConfig.imageUri" },
	{ "masterAccelerator", "trainingInput.masterConfig.acceleratorConfig" },
	{ "workerAccelerator", "trainingInput.workerConfig.acceleratorConfig" },
	{ "parameterServerAccelerator",
	  "trainingInput.parameterServerConfig.acceleratorConfig" },
	{ "acceleratorType",
	  "trainingInput.masterConfig.acceleratorConfig.type" },
	{ "acceleratorCount",
	  "trainingInput.masterConfig.acceleratorConfig.count" },
	{ "replicaCount", "trainingInput.workerCount" },
	{ "moduleName", "trainingInput.pythonModule" },
	{ "packagePath", "trainingInput.packageUris" },
	{ "packages", "trainingInput.packageUris" },
	{ "kmsKey", "trainingInput.encryptionConfig.kmsKeyName" },
	{ "timeout", "trainingInput.scheduling.maxRunningTime" },
	{ "maxTrialCount", "trainingInput.hyperparameters.maxTrials" },
	{ "parallelTrialCount",
	  "trainingInput.hyperparameters.maxParallelTrials" },
	{ "maxFailedTrialCount",
	  "trainingInput.hyperparameters.maxFailedTrials" },
	{ "metricId", "trainingInput.hyperparameters.hyperparameterMetricTag" },
	{ "parameterId", "trainingInput.hyperparameters.params.parameterName" },
};

/* Case, "_" and "-" do not count. */
static bool is_same(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (*a == '_' || *a == '-')
			a++;
		while (*b == '_' || *b == '-')
			b++;
		if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
			return false;
		if (!*a)
			return true;
	}
}

const char *also_called(const char *key)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_same(names[i].name, key))
			return names[i].field;
	return NULL;
}
