/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/vertexai/vertexai_request.h"

#include <string.h>

#include "core/base/alloc.h"
#include "core/base/nearest.h"

#define FIELDS_MAX 24

/* The messages of the API: their fields, each followed by ":" and its own
 * message if it has one, also for lists.  (Discovery document of aiplatform v1,
 * 2026-10.) */
static const struct {
	const char *name;
	const char *fields[FIELDS_MAX];
} messages[] = {
	{ "Job",
	  { "jobSpec:JobSpec", "trialJobSpec:JobSpec", "studySpec:Study",
	    "maxTrialCount", "parallelTrialCount", "maxFailedTrialCount",
	    "encryptionSpec:Encryption" } },
	{ "Encryption", { "kmsKeyName" } },
	{ "JobSpec",
	  { "baseOutputDirectory:Output", "enableDashboardAccess",
	    "enableWebAccess", "experiment", "experimentRun", "models",
	    "network", "persistentResourceId", "protectedArtifactLocationId",
	    "pscInterfaceConfig:Psc", "reservedIpRanges",
	    "scheduling:Scheduling", "serviceAccount", "tensorboard",
	    "workerPoolSpecs:Pool" } },
	{ "Output", { "outputUriPrefix" } },
	{ "Psc", { "networkAttachment", "dnsPeeringConfigs:Dns" } },
	{ "Dns", { "domain", "targetNetwork", "targetProject" } },
	{ "Scheduling",
	  { "disableRetries", "maxWaitDuration", "restartJobOnWorkerRestart",
	    "strategy", "timeout" } },
	{ "Pool",
	  { "containerSpec:Container", "diskSpec:Disk", "lustreMounts:Lustre",
	    "machineSpec:Machine", "nfsMounts:Nfs", "pythonPackageSpec:Python",
	    "replicaCount" } },
	{ "Machine",
	  { "acceleratorCount", "acceleratorType", "gpuPartitionSize",
	    "machineType", "reservationAffinity:Affinity", "tpuTopology" } },
	{ "Affinity", { "key", "reservationAffinityType", "values" } },
	{ "Disk", { "bootDiskSizeGb", "bootDiskType" } },
	{ "Lustre",
	  { "filesystem", "instanceIp", "mountPoint", "volumeHandle" } },
	{ "Nfs", { "mountPoint", "path", "server" } },
	{ "Container", { "args", "command", "env:Env", "imageUri" } },
	{ "Python",
	  { "args", "env:Env", "executorImageUri", "packageUris",
	    "pythonModule" } },
	{ "Env", { "name", "value" } },
	{ "Study",
	  { "algorithm", "convexAutomatedStoppingSpec:Convex",
	    "decayCurveStoppingSpec:Elapsed", "measurementSelectionType",
	    "medianAutomatedStoppingSpec:Elapsed", "metrics:Metric",
	    "observationNoise", "parameters:Parameter",
	    "studyStoppingConfig:Stopping" } },
	{ "Convex",
	  { "learningRateParameterName", "maxStepCount", "minMeasurementCount",
	    "minStepCount", "updateAllStoppedTrials", "useElapsedDuration" } },
	{ "Elapsed", { "useElapsedDuration" } },
	{ "Metric", { "goal", "metricId", "safetyConfig:Safety" } },
	{ "Safety", { "desiredMinSafeTrialsFraction", "safetyThreshold" } },
	{ "Parameter",
	  { "categoricalValueSpec:Values",
	    "conditionalParameterSpecs:Condition", "discreteValueSpec:Values",
	    "doubleValueSpec:Range", "integerValueSpec:Range", "parameterId",
	    "scaleType" } },
	{ "Values", { "defaultValue", "values" } },
	{ "Range", { "defaultValue", "maxValue", "minValue" } },
	{ "Condition",
	  { "parameterSpec:Parameter", "parentCategoricalValues:Parent",
	    "parentDiscreteValues:Parent", "parentIntValues:Parent" } },
	{ "Parent", { "values" } },
	{ "Stopping",
	  { "maxDurationNoProgress", "maxNumTrials", "maxNumTrialsNoProgress",
	    "maximumRuntimeConstraint:Time", "minNumTrials",
	    "minimumRuntimeConstraint:Time", "shouldStopAsap" } },
	{ "Time", { "endTime", "maxDuration" } },
};

static const char *const *fields_of(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(messages); i++)
		if (!strcmp(messages[i].name, name))
			return messages[i].fields;
	return NULL;
}

static int unknown(const char *const *fields, const char *path, const char *key,
		   struct error *err)
{
	char words[FIELDS_MAX][48];
	const char *names[FIELDS_MAX], *near;
	size_t n;

	for (n = 0; n < FIELDS_MAX && fields[n]; n++) {
		snprintf(words[n], sizeof(words[n]), "%.*s",
			 (int)strcspn(fields[n], ":"), fields[n]);
		names[n] = words[n];
	}
	near = nearest_name(key, names, n);
	return error_set(err, ERROR_INVALID,
			 "has no field \"%s%s%.64s\" in the API%s%s%s", path,
			 *path ? "." : "", key, near ? "; did you mean \"" : "",
			 near ? near : "", near ? "\"?" : "");
}

static int check(const json_t *value, const char *message, const char *path,
		 struct error *err)
{
	const char *const *fields = fields_of(message);
	const char *key, *below;
	const json_t *item;
	char inner[160];
	size_t i;

	json_array_foreach(value, i, item) if (check(item, message, path, err) <
					       0) return -1;
	if (json_is_array(value))
		return 0;
	if (!json_is_object(value))
		return error_set(err, ERROR_INVALID,
				 "must have a map at \"%s\"", path);
	json_object_foreach((json_t *)value, key, item)
	{
		for (i = 0; fields[i]; i++) {
			size_t n = strcspn(fields[i], ":");

			if (strlen(key) == n && !strncmp(fields[i], key, n))
				break;
		}
		if (!fields[i])
			return unknown(fields, path, key, err);
		below = strchr(fields[i], ':');
		snprintf(inner, sizeof(inner), "%s%s%s", path, *path ? "." : "",
			 key);
		if (below && check(item, below + 1, inner, err) < 0)
			return -1;
	}
	return 0;
}

int request_check(const char *text, struct error *err)
{
	static const char *const ours[] = { "displayName", "labels", "name",
					    "state" };
	json_t *value = json_loads(text, 0, NULL);
	size_t i;
	int ret = 0;

	for (i = 0; i < COUNT(ours) && ret == 0; i++)
		if (json_object_get(value, ours[i]))
			ret = error_set(err, ERROR_INVALID,
					"cannot set \"%s\": jobrun does, from "
					"jobId and labels",
					ours[i]);
	if (ret == 0)
		ret = check(value, "Job", "", err);
	json_decref(value);
	return ret;
}

static bool by_position(const char *key)
{
	return !strcmp(key, "workerPoolSpecs") || !strcmp(key, "metrics") ||
	       !strcmp(key, "parameters");
}

void request_merge(json_t *body, const json_t *over)
{
	const char *key;
	json_t *value, *there, *item;
	size_t i;

	json_object_foreach((json_t *)over, key, value)
	{
		there = json_object_get(body, key);
		if (json_is_object(there) && json_is_object(value)) {
			request_merge(there, value);
		} else if (json_is_array(there) && json_is_array(value) &&
			   by_position(key)) {
			json_array_foreach(value, i,
					   item) if (i < json_array_size(there))
				request_merge(json_array_get(there, i), item);
			else json_array_append_new(there, json_deep_copy(item));
		} else {
			json_object_set_new(body, key, json_deep_copy(value));
		}
	}
}
