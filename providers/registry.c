/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/registry.h"

#include <string.h>

/* The order in which users see them, one per line. */
/* clang-format off */
#define PROVIDERS(EACH) \
	EACH(provider_local) \
	EACH(provider_fake) \
	EACH(provider_ai_platform) \
	EACH(provider_vertex_ai) \
	EACH(provider_tpu_node) \
	EACH(provider_tpu_vm) \
	EACH(provider_slurm) \
	EACH(provider_kubernetes) \

#define DECLARATION(name) extern const struct provider name;
#define ROW(name) &name,
/* clang-format on */

PROVIDERS(DECLARATION)

const struct provider *const providers[] = { PROVIDERS(ROW) NULL };

const struct provider *provider_find(const char *name)
{
	size_t i;

	for (i = 0; providers[i]; i++)
		if (!strcmp(providers[i]->name, name))
			return providers[i];
	return NULL;
}
