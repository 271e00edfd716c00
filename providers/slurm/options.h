/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of sbatch and srun that a job file gives as they are, under
 * jobrun.slurm.sbatch and srun: a flag is true, a list is joined by commas.
 * What jobrun sets itself is refused, with the field to use.
 */
#ifndef JOBRUN_OPTIONS_H
#define JOBRUN_OPTIONS_H

#include <jansson.h>

#include "core/base/buf.h"
#include "core/job/message.h"

void sbatch_options_check(const json_t *options, tree_tell *tell, void *ctx);
void srun_options_check(const json_t *options, tree_tell *tell, void *ctx);

/* Whether the options (JSON text, or NULL) have one that begins so:
 * "mem" is for mem-per-cpu, too. */
bool options_have(const char *options, const char *start);

/* "#SBATCH --NAME=VALUE" lines.  Components of a heterogeneous job behind the
 * first leave out what is of the whole job. */
void sbatch_options_write(const char *options, bool first, struct buf *out);
/* " --NAME=VALUE" for each. */
void srun_options_write(const char *options, struct buf *out);

#endif
