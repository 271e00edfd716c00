/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records how a job's run ended, as an object below jobrun.staging, so that a
 * machine whose store does not know the run does not repeat it.
 */
#ifndef JOBRUN_ENDED_H
#define JOBRUN_ENDED_H

#include "core/provider/provider.h"
#include "core/store/store.h"

/* The object's URL for this job as it is now; in `mem`.  NULL: nowhere. */
const char *ended_url(const struct job *job, struct arena *mem);
/* Whether the run's end says anything about the job. */
bool ended_counts(const struct run_record *run);
/* Returns new. */
char *ended_text(const struct run_record *run);
/* Fails if the record is not one of this job. */
int ended_read(const char *text, const struct job *job, struct run_status *out,
	       struct error *err);

#endif
