/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/aiplatform/block.h"

#include "core/check.h"

static const struct field fields[] = {
	{ .name = "stagingBucket",
	  .type = FIELD_STRING,
	  .check = check_url,
	  .offset = offsetof(struct ai_platform_block, staging_bucket),
	  .doc = "Where packages are uploaded to, if jobrun.staging is "
		 "not given." },
	{ .name = NULL },
};

const struct message ai_platform_message = {
	.name = "AiPlatformBlock",
	.doc = "What only ai-platform has.",
	.size = sizeof(struct ai_platform_block),
	.fields = fields,
};
