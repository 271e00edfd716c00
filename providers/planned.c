/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/planned.h"

#include "providers/kubernetes/block.h"

const struct provider provider_kubernetes = {
	.name = "kubernetes",
	.summary = "a Kubernetes cluster",
	.block = &kubernetes_message,
	.asks = true,
};
