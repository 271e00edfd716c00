/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command that goes on when its caller has left: jobs that are after others
 * are started when those have ended, with nobody there.  The command forks
 * before it opens anything; the child does the work, and asks what it has to
 * ask.  It lets the parent go when nothing is left to report; until then it
 * ends with it.
 */
#ifndef JOBRUN_UNATTENDED_H
#define JOBRUN_UNATTENDED_H

#include "core/base/error.h"

struct unattended {
	int fd; /* the child's end of the pipe, or -1 */
};

/*
 * Returns 0 in the child.  In the parent it returns 1 when the child has let
 * it go or has ended; then `status` is the exit status.  -1: there is no
 * child.
 */
int unattended_begin(struct unattended *it, int *status, struct error *err);

/* Lets the parent end with this status.  From here on the process has no
 * terminal, and its output goes nowhere. */
void unattended_release(struct unattended *it, int status);

#endif
