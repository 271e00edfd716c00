/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of a CustomJob that jobrun sets itself, and the job's fields for
 * them. */
#include "providers/vertexai/vertexai_types.h"

#define POOL "jobSpec.workerPoolSpecs[#]."

static const struct body_owned owned[] = {
	{ "displayName", "use jobId" },
	{ "labels", "use labels" },
	{ "encryptionSpec", "use trainingInput.encryptionConfig" },
	{ "jobSpec.baseOutputDirectory", "use trainingInput.jobDir" },
	{ "jobSpec.enableWebAccess", "use trainingInput.enableWebAccess" },
	{ "jobSpec.network", "use trainingInput.network" },
	{ "jobSpec.scheduling.timeout",
	  "use trainingInput.scheduling.maxRunningTime" },
	{ "jobSpec.serviceAccount", "use trainingInput.serviceAccount" },
	{ "jobSpec.tensorboard", "use jobrun.vertex-ai.tensorboard" },
	{ POOL "containerSpec", "use trainingInput.masterConfig" },
	{ POOL "pythonPackageSpec", "use trainingInput.packageUris" },
	{ POOL "replicaCount", "use trainingInput.workerCount" },
	{ POOL "diskSpec", "use trainingInput.masterConfig.diskConfig" },
	{ POOL "machineSpec.machineType", "use trainingInput.masterType" },
	{ POOL "machineSpec.acceleratorType",
	  "use trainingInput.masterConfig.acceleratorConfig" },
	{ POOL "machineSpec.acceleratorCount",
	  "use trainingInput.masterConfig.acceleratorConfig" },
	{ NULL, NULL },
};

const struct body_form vertex_job_form = {
	.types = &vertex_types,
	.root = "CustomJob",
	.owned = owned,
};

void vertex_job_check(const json_t *body, tree_tell *tell, void *ctx)
{
	body_check(&vertex_job_form, body, tell, ctx);
}
