/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOBRUN_KUBERNETES_USES_H
#define JOBRUN_KUBERNETES_USES_H

#include "core/provider/provider.h"

/* How a cluster uses the fields, up to a row with no path. */
extern const struct field_use kubernetes_uses[];

/* Why a field is left out, from its row. */
const char *kube_why(const char *path);

#endif
