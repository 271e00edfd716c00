/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Slurm cluster: a job becomes one batch job.  All facts about a run are in
 * its folder in a directory shared by the nodes; Slurm's own commands are
 * called here or, by ssh, on a login host.
 */
#ifndef JOBRUN_SLURM_H
#define JOBRUN_SLURM_H

#include "core/provider/provider.h"

extern const struct provider provider_slurm;

#endif
