/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All tasks of an attempt that task runners ran (task_runner.h): their states
 * by what each has left in the attempt's folder, or in a copy of it; and what
 * the attempt has ended for.  Where the tasks ran this decides what follows, and
 * who follows the run says the same.
 */
#ifndef JOBRUN_TASK_FILES_H
#define JOBRUN_TASK_FILES_H

#include "core/spec/attempt_outcome.h"
#include "core/spec/spec.h"
#include "core/store/store.h"

/* The tasks of a run, of which nothing is known yet; in `mem`. */
void task_files_list(const struct run_spec *spec, struct arena *mem,
		     struct task_list *out);

/* What is new of those that have not ended; `changed` (or NULL) is set for
 * each whose state is another one now. */
int task_files_read(const char *folder, struct arena *mem,
		    struct task_list *tasks, bool *changed, struct error *err);

/* The first that has begun and said no more, or NULL: its node is gone, or it
 * was killed so hard that nobody was left to say so. */
const struct task_record *task_files_lost(const struct task_list *tasks);

/*
 * The outcome of an attempt that has ended without success.  The task that
 * failed is to blame; the others were told to end for it, or at least got
 * SIGTERM.  OUTCOME_CANCEL: something else told all of them to end.
 * OUTCOME_OTHER: they have not begun.  `why` stays NULL.
 */
void task_files_outcome(const char *folder, const struct task_list *tasks,
			struct attempt_outcome *out);

#endif
