/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a plan that only deletes, for commands other than 'apply'. */
#ifndef JOBRUN_UNDO_H
#define JOBRUN_UNDO_H

#include "cmd/jobrun/ui/session.h"

/*
 * Uses the executor and the journal, like all changes.  Reports failures on the
 * way; calls `each` (may be NULL) for every deleted resource.  Needs the locks
 * of the plan's jobs.
 */
int undo_execute(struct session *session, const struct plan *plan,
		 void (*each)(void *arg, const struct resource *gone),
		 void *arg, struct error *err);

#endif
