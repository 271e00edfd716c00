/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the output of a run's tasks as it arrives. */
#ifndef JOBRUN_FOLLOW_H
#define JOBRUN_FOLLOW_H

#include "cmd/jobrun/ui/session.h"
#include "cmd/jobrun/view/sources.h"
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
 * trials (`trial` is 0), the output is messages about the progress of each.
 * Borrows the session and what the view points to.  Fails with ERROR_USAGE if
 * the view names a task that the run does not have.
 */
struct follow *follow_open(struct session *session, const char *job_id,
			   int attempt, int trial,
			   const struct follow_view *view, struct error *err);
void follow_close(struct follow *follow);

/* Prints new output; with `ended`, when the run is over, also a last line
 * without a newline. */
int follow_step(struct follow *follow, bool ended, struct error *err);

/* Prints new output from now on, in the loop; after a restart also that of the
 * next attempt, following a message. */
int follow_start(struct follow *follow, struct loop *loop, struct error *err);
/* Stops; to be called before the loop is freed. */
void follow_stop(struct follow *follow);

#endif
