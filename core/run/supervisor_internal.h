/* SPDX-License-Identifier: Apache-2.0 */
/* What the two sides of supervisor.h share. */
#ifndef JOBRUN_SUPERVISOR_INTERNAL_H
#define JOBRUN_SUPERVISOR_INTERNAL_H

#include "core/base/error.h"
#include "core/store/store.h"

/* Descriptors that the new process finds open. */
#define SUPERVISOR_LOCK_FD 3
#define SUPERVISOR_REPORT_FD 4
#define SUPERVISOR_READY '+'

/* Records a run as failed whose supervisor can't do so any more. */
int supervisor_abandon(struct store *store, const char *job_id, int attempt,
		       const char *why, struct error *err);

/* Rewrites the file `state`, for those who watch it. */
void supervisor_publish(struct store *store, const struct run_record *run);

#endif
