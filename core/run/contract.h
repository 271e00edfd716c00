/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contracts by which training frameworks learn about their peers, as
 * environment variables.  One writer per framework; all are written for every
 * task, so that a program finds whichever it knows.
 */
#ifndef JOBRUN_CONTRACT_H
#define JOBRUN_CONTRACT_H

#include "core/run/environment.h"
#include "core/run/topology.h"

/*
 * Sets the variables of the task at `ordinal`:
 *  - TF_CONFIG, CLOUD_ML_JOB_ID, and TPU_CONFIG with a TPU, as AI Platform
 *    Training wrote them;
 *  - MASTER_ADDR, MASTER_PORT, RANK, WORLD_SIZE, LOCAL_RANK,
 *    LOCAL_WORLD_SIZE, GROUP_RANK of torch.distributed, for the master and
 *    the workers;
 *  - PJRT_DEVICE and the number of devices, with a TPU.
 */
void contract_write(const struct topology *all, size_t ordinal,
		    struct environment *env);

/* Makes what all tasks have in common once, for who writes the contracts of
 * many.  To be called again when hosts or ports have changed. */
void contract_share(struct topology *all, struct arena *mem);

#endif
