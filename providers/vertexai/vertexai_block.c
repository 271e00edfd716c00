/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/vertexai/vertexai_block.h"

#include "core/job/check.h"
#include "providers/vertexai/vertexai_types.h"

static const struct field fields[] = {
	{ .name = "stagingBucket",
	  .type = FIELD_STRING,
	  .check = check_url,
	  .offset = offsetof(struct vertex_ai_block, staging_bucket),
	  .doc = "Where packages are uploaded to, if jobrun.staging is "
		 "not given." },
	{ .name = "tensorboard",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct vertex_ai_block, tensorboard),
	  .doc = "The Tensorboard that the job's logs go to: "
		 "projects/NUMBER/locations/REGION/tensorboards/ID." },
	{ .name = "customJob",
	  .type = FIELD_TREE,
	  .check_tree = vertex_job_check,
	  .offset = offsetof(struct vertex_ai_block, custom_job),
	  .doc = "What the CustomJob has besides, merged key by key: "
		 "jobSpec.scheduling.strategy, "
		 "jobSpec.persistentResourceId.  Items of workerPoolSpecs "
		 "are merged by their place; the first is the master's." },
	{ .name = NULL },
};

const struct message vertex_ai_message = {
	.name = "VertexAiBlock",
	.doc = "What only vertex-ai has.",
	.size = sizeof(struct vertex_ai_block),
	.fields = fields,
};
