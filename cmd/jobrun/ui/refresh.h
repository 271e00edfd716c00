/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at many runs at once, each place in a process of its own: one that does
 * not answer holds up no other, and is left after a short time with what was
 * last known of its runs.
 */
#ifndef JOBRUN_REFRESH_H
#define JOBRUN_REFRESH_H

#include "cmd/jobrun/ui/session.h"

/* Refreshes the records.  `stale[i]`, in `mem`, is why the ith is as it was last
 * known, or NULL. */
int refresh_runs(struct session *session, struct arena *mem,
		 struct run_record *const *runs, size_t count,
		 const char **stale, struct error *err);

#endif
