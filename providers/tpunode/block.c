/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/tpunode/block.h"

#include "core/check.h"

static const struct field fields[] = {
	{ .name = "runtimeVersion",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_node_block, runtime_version),
	  .doc = "The software of the TPU node, for instance "
		 "pytorch-1.13 or 2.12.0." },
	{ .name = "machineType",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_node_block, machine_type),
	  .doc = "The type of the VMs, if it is not "
		 "trainingInput.masterType: one VM for each 8 cores." },
	{ .name = "image",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_node_block, image),
	  .doc = "The disk image of the VMs." },
	{ .name = "imageProject",
	  .type = FIELD_STRING,
	  .check = check_project,
	  .offset = offsetof(struct tpu_node_block, image_project),
	  .doc = "The project that the image is in." },
	{ .name = "condaEnv",
	  .type = FIELD_STRING,
	  .offset = offsetof(struct tpu_node_block, conda_env),
	  .doc = "The conda environment to run the program in." },
	{ .name = "dockerImage",
	  .type = FIELD_STRING,
	  .check = check_image,
	  .offset = offsetof(struct tpu_node_block, docker_image),
	  .doc = "The container image to run the program in, on each VM." },
	{ .name = "preemptible",
	  .type = FIELD_BOOL,
	  .fallback = "false",
	  .offset = offsetof(struct tpu_node_block, preemptible),
	  .doc = "Whether the TPU may be taken away at any time, for "
		 "less money." },
	{ .name = "restartServer",
	  .type = FIELD_BOOL,
	  .fallback = "false",
	  .offset = offsetof(struct tpu_node_block, restart_server),
	  .doc = "Whether the TPU's runtime server is restarted before "
		 "the run." },
	{ .name = NULL },
};

const struct message tpu_node_message = {
	.name = "TpuNodeBlock",
	.doc = "What only tpu-node has.",
	.size = sizeof(struct tpu_node_block),
	.fields = fields,
};
