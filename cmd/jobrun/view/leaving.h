/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meaning of signals for a command that follows runs.  A run that goes on
 * without this machine is left alone: at once after SIGHUP or SIGTERM, which CI
 * sends when a step has taken too long; after Ctrl-C only if it is not pressed
 * again soon, as the second one cancels.  A run on this machine is cancelled by
 * Ctrl-C and by SIGTERM, and left by SIGHUP.
 */
#ifndef JOBRUN_LEAVING_H
#define JOBRUN_LEAVING_H

#include "cmd/jobrun/ui/app.h"
#include "cmd/jobrun/view/tally.h"
#include "core/apply/executor.h"

struct leaving;

/* For a plan of so many actions.  Handles the signals from now on; must be made
 * before any thread. */
struct leaving *leaving_new(struct app *app, struct loop *loop,
			    struct tally *tally, size_t actions,
			    struct error *err);
void leaving_free(struct leaving *leaving); /* accepts NULL */
/* Borrows the executor, until leaving_free(). */
void leaving_attach(struct leaving *leaving, struct executor *executor);

/* From now on no signal ends a run: the process has no terminal. */
void leaving_stay(struct leaving *leaving);

/* To be called from the executor's `phase`.  True: the run was left, which has
 * been reported. */
bool leaving_phase(struct leaving *leaving, const struct action *action,
		   enum action_phase phase, const struct run_status *status);

/* The exit status after a signal; 0: no relevant signal came.  `done` says
 * whether the executor has done everything, counting left runs as done. */
int leaving_status(const struct leaving *leaving, bool done);

#endif
