/* SPDX-License-Identifier: Apache-2.0 */
/* The fields of `jobrun: tpu-node:`. */
#ifndef JOBRUN_TPU_NODE_BLOCK_H
#define JOBRUN_TPU_NODE_BLOCK_H

#include "core/message.h"

struct tpu_node_block {
	struct message_head head;
	const char *runtime_version; /* "pytorch-1.13" */
	const char *machine_type;    /* of the VMs, or NULL */
	const char *image;
	const char *image_project;
	const char *conda_env;
	const char *docker_image;
	bool preemptible;
	bool restart_server; /* of the TPU, before the run */
};

extern const struct message tpu_node_message;

#endif
