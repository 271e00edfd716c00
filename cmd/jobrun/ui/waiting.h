/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for the end of a run, in a loop that may also do other things. */
#ifndef JOBRUN_WAITING_H
#define JOBRUN_WAITING_H

#include <stdbool.h>

#include "cmd/jobrun/ui/session.h"
#include "core/base/loop.h"

/*
 * Runs the loop until the run has ended, `timeout_s` has passed (-1: never), or
 * something stops the loop; then `run` is up to date, and the newest attempt if
 * it was restarted.  SIGINT and SIGTERM call `interrupt`, whose events are the
 * signal's number.  Returns 0 if the run ended or standard output was closed,
 * ERROR_TIMEOUT, ERROR_INTERRUPTED, or -1 with `err` set.
 */
int waiting_run(struct session *session, struct loop *loop, struct arena *mem,
		struct run_record *run, long timeout_s, loop_call *interrupt,
		void *arg, struct error *err);

/* Whether waiting_run() may have something to wait for: a run that has ended
 * may still copy its logs, or delete what was made for it. */
bool waiting_is_needed(const struct run_record *run);

#endif
