/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/registry.h"

#include <string.h>

#include "providers/aiplatform/aiplatform.h"
#include "providers/fake/fake.h"
#include "providers/kubernetes/kubernetes.h"
#include "providers/local/local.h"
#include "providers/slurm/slurm.h"
#include "providers/tpunode/tpunode.h"
#include "providers/tpuvm/tpuvm.h"
#include "providers/vertexai/vertexai.h"

const struct provider *const providers[] = {
	&provider_local,     &provider_fake,       &provider_ai_platform,
	&provider_vertex_ai, &provider_tpu_node,   &provider_tpu_vm,
	&provider_slurm,     &provider_kubernetes, NULL,
};

const struct provider *provider_find(const char *name)
{
	size_t i;

	for (i = 0; providers[i]; i++)
		if (!strcmp(providers[i]->name, name))
			return providers[i];
	return NULL;
}
