/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/registry.h"

#include <string.h>

#include "providers/fake/fake.h"
#include "providers/local/local.h"

const struct provider *const providers[] = {
	&provider_local,
	&provider_fake,
	NULL,
};

const struct provider *provider_find(const char *name)
{
	size_t i;

	for (i = 0; providers[i]; i++)
		if (!strcmp(providers[i]->name, name))
			return providers[i];
	return NULL;
}
