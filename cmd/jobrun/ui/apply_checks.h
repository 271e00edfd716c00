/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold before a plan is applied. */
#ifndef JOBRUN_APPLY_CHECKS_H
#define JOBRUN_APPLY_CHECKS_H

#include "cmd/jobrun/ui/session.h"

/* Reports why a plan cannot be applied, and returns the exit status. */
int apply_check_missing(struct app *app, const struct plan *plan);
/* Checks that the buckets which runs on this machine write to can be used, so
 * that missing credentials show before the runs start. */
int apply_check_stores(struct app *app, const struct plan *plan);
/* Asks for confirmation; returns 0 to go on, or the exit status. */
int apply_ask(struct app *app, const struct plan *plan, bool yes);
/* Takes over runs followed with --take-over: they are this job's from now
 * on. */
int apply_take_over(const struct session *session, struct error *err);

#endif
