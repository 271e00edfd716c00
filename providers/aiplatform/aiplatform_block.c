/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/aiplatform/aiplatform_block.h"

#include "core/job/check.h"

static const struct field fields[] = {
	{ .name = "stagingBucket",
	  .type = FIELD_STRING,
	  .check = check_url,
	  .offset = offsetof(struct ai_platform_block, staging_bucket),
	  .doc = "Where to upload packages, unless jobrun.staging is set." },
	{ .name = "grantTpuAccess",
	  .type = FIELD_BOOL,
	  .flags = FIELD_POSITION,
	  .offset = offsetof(struct ai_platform_block, grant_tpu_access),
	  .doc = "Let AI Platform use TPUs in the project, which each project "
		 "needs once: jobrun generates the service account that "
		 "projects.getConfig names, and grants it "
		 "roles/ml.serviceAgent. Whoever "
		 "applies the job must be allowed to read and write the "
		 "project's IAM policy. The binding stays when the job is "
		 "deleted." },
	{ .name = NULL },
};

const struct message ai_platform_message = {
	.name = "AiPlatformBlock",
	.doc = "Settings for AI Platform.",
	.size = sizeof(struct ai_platform_block),
	.fields = fields,
};
