/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a job's run ended, as an object below jobrun.staging: a machine whose
 * store knows nothing of the run does not run the job again.
 */
#ifndef JOBRUN_ENDED_H
#define JOBRUN_ENDED_H

#include "core/provider/provider.h"
#include "core/store/store.h"

/* Where it is, for this job as it is now; in `mem`.  NULL: nowhere. */
const char *ended_url(const struct job *job, struct arena *mem);
/* Whether its end says anything about the job. */
bool ended_counts(const struct run_record *run);
/* Returns new. */
char *ended_text(const struct run_record *run);
/* Fails if it is none of this job. */
int ended_read(const char *text, const struct job *job, struct run_status *out,
	       struct error *err);

#endif
