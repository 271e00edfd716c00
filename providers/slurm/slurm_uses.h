/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOBRUN_SLURM_USES_H
#define JOBRUN_SLURM_USES_H

#include "core/provider/provider.h"

/* How Slurm uses the fields, up to a row with no path. */
extern const struct field_use slurm_uses[];

/* Adds a note for each field in the file whose row says that it is not used. */
void slurm_note_unused(const struct job *job, struct resources *out);

#endif
