/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out a plan that only deletes, for commands that are not 'apply'. */
#ifndef JOBRUN_UNDO_H
#define JOBRUN_UNDO_H

#include "cmd/jobrun/ui/session.h"

/*
 * Through the executor and the journal, like all that changes anything.  Says
 * what goes wrong on the way; `each` (may be NULL) is told of every resource
 * that was deleted.  Needs the locks of the plan's jobs.
 */
int undo_execute(struct session *session, const struct plan *plan,
		 void (*each)(void *arg, const struct resource *gone),
		 void *arg, struct error *err);

#endif
