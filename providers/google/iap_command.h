/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOBRUN_IAP_COMMAND_H
#define JOBRUN_IAP_COMMAND_H

#include "core/provider/extension.h"

/* For providers whose VMs are reached through the proxy: just IAP_COMMAND. */
extern const struct provider_command *const iap_commands[];

#endif
