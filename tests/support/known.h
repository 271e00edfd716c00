/* SPDX-License-Identifier: Apache-2.0 */
/* A provider, as far as job files know it. */
#ifndef JOBRUN_TEST_KNOWN_H
#define JOBRUN_TEST_KNOWN_H

#include "core/provider/provider.h"
#include "providers/registry.h"
#include "schema/schema.h"

static inline struct schema_provider known_provider(const struct provider *one)
{
	return (struct schema_provider){ one->name, one->block, one->traits };
}

/* With all that there are. */
static inline struct schema_options known_options(void)
{
	static struct schema_provider known[32];
	struct schema_options options = { .providers = known };

	for (; providers[options.provider_count]; options.provider_count++)
		known[options.provider_count] =
			known_provider(providers[options.provider_count]);
	return options;
}

#endif
