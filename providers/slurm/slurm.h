/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Slurm cluster: a job becomes one batch job of it.  All that is known of a
 * run is in its folder in a directory that the nodes share; Slurm's own
 * commands are called here or, by ssh, on a login host.
 */
#ifndef JOBRUN_SLURM_H
#define JOBRUN_SLURM_H

#include "core/base/buf.h"
#include "core/provider/provider.h"

extern const struct provider provider_slurm;

/* The batch script of the first run of a digested job.  `needed` is set to
 * what the file does not say and a run needs, in `mem`, else to NULL. */
int slurm_render(const struct job *job, const struct catalogue *catalogue,
		 struct arena *mem, struct buf *out, const char **needed,
		 struct error *err);

#endif
