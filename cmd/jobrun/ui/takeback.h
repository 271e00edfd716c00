/* SPDX-License-Identifier: Apache-2.0 */
/* After an apply that failed or was interrupted: what was made for runs that
 * did not start is of no use, and costs. */
#ifndef JOBRUN_TAKEBACK_H
#define JOBRUN_TAKEBACK_H

#include "cmd/jobrun/ui/session.h"

/*
 * Deletes it, as jobrun.cleanup says; looks at what exists now.  With the
 * locks of the session's jobs.  Says what goes wrong.
 */
int takeback(struct session *session, struct error *err);

#endif
