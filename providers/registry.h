/* SPDX-License-Identifier: Apache-2.0 */
/* All providers there are. */
#ifndef JOBRUN_REGISTRY_H
#define JOBRUN_REGISTRY_H

#include "core/provider/provider.h"

/* NULL-terminated; the first is the default. */
extern const struct provider *const providers[];

/* The provider of that name, or NULL. */
const struct provider *provider_find(const char *name);

#endif
