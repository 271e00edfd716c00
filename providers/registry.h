/* SPDX-License-Identifier: Apache-2.0 */
/* All providers there are. */
#ifndef JOBRUN_REGISTRY_H
#define JOBRUN_REGISTRY_H

#include "core/provider/provider.h"

/* Up to NULL; the first is that of jobs that name none. */
extern const struct provider *const providers[];

/* By its name, or NULL. */
const struct provider *provider_find(const char *name);

#endif
