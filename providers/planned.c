/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/planned.h"

#include "providers/aiplatform/block.h"
#include "providers/kubernetes/block.h"
#include "providers/slurm/block.h"
#include "providers/tpunode/block.h"
#include "providers/tpuvm/block.h"
#include "providers/vertexai/block.h"

/* Called before anything else is asked of a provider. */
static void *refuse(const struct provider_env *env, struct error *err)
{
	(void)env;
	error_set(err, ERROR_FAILED,
		  "this version of jobrun checks jobs for this provider, but "
		  "cannot run them there");
	return NULL;
}

static int desire(const struct job *job, const struct provider_env *env,
		  struct resources *out, struct error *err)
{
	(void)job;
	(void)out;
	refuse(env, err);
	return -1;
}

static const struct kind *const kinds[] = { NULL };

const struct provider provider_ai_platform = {
	.name = "ai-platform",
	.summary = "AI Platform Training",
	.kinds = kinds,
	.block = &ai_platform_message,
	.asks = true,
	.desire = desire,
	.open = refuse,
};

const struct provider provider_vertex_ai = {
	.name = "vertex-ai",
	.summary = "Vertex AI custom jobs",
	.kinds = kinds,
	.block = &vertex_ai_message,
	.asks = true,
	.desire = desire,
	.open = refuse,
};

const struct provider provider_tpu_node = {
	.name = "tpu-node",
	.summary = "Cloud TPU nodes, with VMs beside them",
	.kinds = kinds,
	.block = &tpu_node_message,
	.asks = true,
	.desire = desire,
	.open = refuse,
};

const struct provider provider_tpu_vm = {
	.name = "tpu-vm",
	.summary = "Cloud TPU VMs and pod slices, over ssh",
	.kinds = kinds,
	.block = &tpu_vm_message,
	.asks = true,
	.desire = desire,
	.open = refuse,
};

const struct provider provider_slurm = {
	.name = "slurm",
	.summary = "a Slurm cluster",
	.kinds = kinds,
	.block = &slurm_message,
	.asks = true,
	.desire = desire,
	.open = refuse,
};

const struct provider provider_kubernetes = {
	.name = "kubernetes",
	.summary = "a Kubernetes cluster",
	.kinds = kinds,
	.block = &kubernetes_message,
	.asks = true,
	.desire = desire,
	.open = refuse,
};
