/* SPDX-License-Identifier: Apache-2.0 */
#include "core/topology/contract.h"

static bool suits(const struct topology *all, size_t ordinal)
{
	(void)all;
	(void)ordinal;
	return true;
}

/* The last two are for hyperparameter tuning; the package cloudml-hypertune
 * reads them (github.com/GoogleCloudPlatform/cloudml-hypertune). */
static void write_names(const struct topology *all, size_t ordinal,
			struct environment *env)
{
	(void)ordinal;
	environment_set(env, "CLOUD_ML_JOB_ID", all->job_id);
	if (all->trial_id)
		environment_set(env, "CLOUD_ML_TRIAL_ID", all->trial_id);
	if (all->metric_file)
		environment_set(env, "CLOUD_ML_HP_METRIC_FILE",
				all->metric_file);
}

const struct contract contract_cloud_ml = {
	.name = "cloud-ml",
	.summary = "CLOUD_ML_*, of AI Platform and Vertex AI",
	.suits = suits,
	.write = write_names,
};
