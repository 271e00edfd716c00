/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the metadata server and, with the machine's own credentials, the TPU API
 * about the machine that this process runs on.
 */
#ifndef JOBRUN_GCE_H
#define JOBRUN_GCE_H

#include "core/topology/platform.h"

extern const struct platform platform_gce;

#endif
