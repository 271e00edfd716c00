/* SPDX-License-Identifier: Apache-2.0 */
/* The output of a run's tasks, printed as it comes. */
#ifndef JOBRUN_FOLLOW_H
#define JOBRUN_FOLLOW_H

#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/ui/sources.h"
#include "core/base/loop.h"
#include "core/log/log.h"

struct follow;

/* What is shown, and how. */
struct follow_view {
	struct source_choice tasks;
	struct log_filter filter;
	struct log_style style;
};

/*
 * Opens the output of one attempt, or of one of its trials.  For a run with
 * trials (`trial` is 0), the output is the progress of each, in messages.
 * Borrows the session and what the view points to.  Fails with ERROR_USAGE if
 * that names a task that the run does not have.
 */
struct follow *follow_open(struct session *session, const char *job_id,
			   int attempt, int trial,
			   const struct follow_view *view, struct error *err);
void follow_close(struct follow *follow);

/* Prints what is new; with `ended`, the run being over, also what has no
 * newline yet. */
int follow_step(struct follow *follow, bool ended, struct error *err);

/* Prints whatever is new from now on, in the loop; if the run is restarted,
 * of the next attempt, too, after a message that says so. */
int follow_start(struct follow *follow, struct loop *loop, struct error *err);
/* No more; before the loop goes. */
void follow_stop(struct follow *follow);

#endif
