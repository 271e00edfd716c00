/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job as a batch script that needs no jobrun: source and packages are
 * included, and each task gets the variables that it would have here.  It lacks
 * what jobrun itself does for a run (restarts, trials, checkpoints, streams of
 * data).
 */
#ifndef JOBRUN_STANDALONE_H
#define JOBRUN_STANDALONE_H

#include "core/provider/extension.h"
#include "providers/slurm/desire.h"

int slurm_standalone_write(const struct job *job, const struct slurm_job *what,
			   const struct render_env *env, struct buf *out,
			   struct error *err);

#endif
