/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refreshes many runs at once, each place in a process of its own: one that
 * does not answer does not delay the others, and after a short time its runs
 * are shown in their last known state.
 */
#ifndef JOBRUN_REFRESH_H
#define JOBRUN_REFRESH_H

#include "cmd/jobrun/ui/session.h"

/* Refreshes the records.  `stale[i]`, in `mem`, says why the i-th record could
 * not be refreshed, or is NULL. */
int refresh_runs(struct session *session, struct arena *mem,
		 struct run_record *const *runs, size_t count,
		 const char **stale, struct error *err);

#endif
