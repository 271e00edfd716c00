/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All tasks of an attempt run by task runners (task_runner.h): their states,
 * from the files that each has left in the attempt's folder or in a copy of it;
 * and why the attempt has ended.  Where the tasks ran, this decides what
 * follows, and whoever follows the run reports the same.
 */
#ifndef JOBRUN_TASK_FILES_H
#define JOBRUN_TASK_FILES_H

#include "core/spec/attempt_outcome.h"
#include "core/spec/spec.h"
#include "core/store/store.h"

/* Lists the tasks of a run, with nothing known yet; in `mem`. */
void task_files_list(const struct run_spec *spec, struct arena *mem,
		     struct task_list *out);

/* Updates the tasks that have not ended; sets `changed` (or NULL) for each
 * whose state has changed. */
int task_files_read(const char *folder, struct arena *mem,
		    struct task_list *tasks, bool *changed, struct error *err);

/* The first task that has begun and left no end, or NULL: its node is gone, or
 * nothing survived to write one. */
const struct task_record *task_files_lost(const struct task_list *tasks);

/*
 * The outcome of an attempt that has ended without success.  The task that
 * failed is to blame; the others were told to end because of it, or at least
 * got SIGTERM.  OUTCOME_CANCEL: something else told all of them to end.
 * OUTCOME_OTHER: they have not begun.  `why` stays NULL.
 */
void task_files_outcome(const char *folder, const struct task_list *tasks,
			struct attempt_outcome *out);

#endif
