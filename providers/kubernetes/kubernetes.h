/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in a Kubernetes cluster. kube_translate.h says how a job is
 * translated. */
#ifndef JOBRUN_KUBERNETES_H
#define JOBRUN_KUBERNETES_H

#include "core/provider/provider.h"

extern const struct provider provider_kubernetes;

#endif
