/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Providers whose job files can be checked, and that cannot run jobs yet.
 * One that is built leaves this file for a folder of its own.
 */
#ifndef JOBRUN_PLANNED_H
#define JOBRUN_PLANNED_H

#include "core/provider.h"

extern const struct provider provider_kubernetes;

#endif
