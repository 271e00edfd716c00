/* SPDX-License-Identifier: Apache-2.0 */
/* Cleans up after an apply that failed or was interrupted: resources made for
 * runs that did not start are useless, and cost money. */
#ifndef JOBRUN_TAKEBACK_H
#define JOBRUN_TAKEBACK_H

#include "cmd/jobrun/ui/session.h"

/*
 * Deletes them, as jobrun.cleanup says; looks at what exists now.  Needs the
 * locks of the session's jobs.  Reports failures.
 */
int takeback(struct session *session, struct error *err);

#endif
