/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of sbatch and srun that a job file gives verbatim under
 * jobrun.slurm.sbatch and srun: true stands for a flag, a list is joined by
 * commas.  Options that jobrun sets itself are refused, with the field to use
 * instead.
 */
#ifndef JOBRUN_OPTIONS_H
#define JOBRUN_OPTIONS_H

#include <jansson.h>

#include "core/base/buf.h"
#include "core/job/message.h"

void sbatch_options_check(const json_t *options, tree_tell *tell, void *ctx);
void srun_options_check(const json_t *options, tree_tell *tell, void *ctx);

/* Whether the options (JSON text, or NULL) have one that begins like this:
 * "mem" also matches mem-per-cpu. */
bool options_have(const char *options, const char *start);

/* Adds "#SBATCH --NAME=VALUE" lines.  Further components of a heterogeneous job
 * leave out options of the whole job. */
void sbatch_options_write(const char *options, bool first, struct buf *out);
/* Adds " --NAME=VALUE" for each. */
void srun_options_write(const char *options, struct buf *out);

#endif
