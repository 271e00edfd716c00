/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOBRUN_SLURM_USES_H
#define JOBRUN_SLURM_USES_H

#include "core/provider/provider.h"

/* How Slurm uses the fields, up to a row with no path. */
extern const struct field_use slurm_uses[];

#endif
