/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/planned.h"

#include "providers/tpunode/block.h"

const struct provider provider_tpu_node = {
	.name = "tpu-node",
	.summary = "Cloud TPU nodes, with VMs beside them",
	.block = &tpu_node_message,
	.asks = true,
};
