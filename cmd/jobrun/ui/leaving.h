/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What signals mean to a command that follows runs.  A run that goes on without
 * this machine is left to itself: at once by SIGTERM, which CI sends when a step
 * has taken too long, and by SIGHUP; by Ctrl-C only if it is not pressed again
 * soon, as the second one cancels.  A run on this machine is cancelled by Ctrl-C
 * and by SIGTERM, and left by SIGHUP.
 */
#ifndef JOBRUN_LEAVING_H
#define JOBRUN_LEAVING_H

#include "cmd/jobrun/ui/app.h"
#include "cmd/jobrun/ui/tally.h"
#include "core/apply/executor.h"

struct leaving;

/* For a plan of so many actions.  Hears the signals from now on; to be made before any thread is. */
struct leaving *leaving_new(struct app *app, struct loop *loop,
			    struct tally *tally, size_t actions,
			    struct error *err);
void leaving_free(struct leaving *leaving); /* NULL does nothing */
/* Borrowed, until leaving_free(). */
void leaving_attach(struct leaving *leaving, struct executor *executor);

/* As the executor tells it.  True: the run was left, and that was said. */
bool leaving_phase(struct leaving *leaving, const struct action *action,
		   enum action_phase phase, const struct run_status *status);

/* The exit status after a signal; 0: there was none that matters.  `done` says
 * whether the executor has done all, runs that were left among it. */
int leaving_status(const struct leaving *leaving, bool done);

#endif
