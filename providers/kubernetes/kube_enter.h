/* SPDX-License-Identifier: Apache-2.0 */
/* How a command gets beside a task in its pod, and a connection to a port of
 * that. */
#ifndef JOBRUN_KUBE_ENTER_H
#define JOBRUN_KUBE_ENTER_H

#include "core/provider/extension.h"
#include "core/provider/provider.h"

/* The kind's `enter`: the way is `jobrun enter-pod`, or for a port, `jobrun
 * forward-pod`. */
int kube_enter(void *ctx, const struct enter_wish *wish, struct arena *mem,
	       struct enter_way *out, struct error *err);

/* Hidden commands: `enter-pod` runs here, `enter-container` in the container,
 * if jobrun is there. */
extern const struct provider_command *const kubernetes_commands[];
extern const struct provider_command kubernetes_forward_pod;

#endif
