/* SPDX-License-Identifier: Apache-2.0 */
/* A provider, as far as job files know it. */
#ifndef JOBRUN_TEST_KNOWN_H
#define JOBRUN_TEST_KNOWN_H

#include "core/provider/provider.h"
#include "schema/schema.h"

static inline struct schema_provider known_provider(const struct provider *one)
{
	return (struct schema_provider){ one->name, one->block, one->traits };
}

#endif
