/* SPDX-License-Identifier: Apache-2.0 */
/* How a run ended, in words and as an exit status. */
#ifndef JOBRUN_OUTCOME_H
#define JOBRUN_OUTCOME_H

#include "cmd/jobrun/ui/session.h"

/* Reports on standard error how a run ended; if it failed, also which task
 * failed and the last lines of its standard error. */
void outcome_say(struct session *session, const struct run_record *run);

/* The task that failed first, or NULL; borrowed. */
const struct task_record *outcome_culprit(const struct task_list *tasks);

/* 0 if it succeeded, else 1. */
int outcome_status(const struct run_record *run);

#endif
