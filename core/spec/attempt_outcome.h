/* SPDX-License-Identifier: Apache-2.0 */
/* Why an attempt at a run ended, wherever the tasks ran; jobrun.restart decides
 * by it (restart.h). */
#ifndef JOBRUN_ATTEMPT_OUTCOME_H
#define JOBRUN_ATTEMPT_OUTCOME_H

#include "core/store/store.h"

enum attempt_cause {
	OUTCOME_SUCCESS,
	OUTCOME_CANCEL, /* cancelled, or out of time */
	/* a task exited with a status other than 0, or by a signal */
	OUTCOME_TASK,
	/* a task's host was preempted or otherwise lost, or is not available
	 * for another attempt */
	OUTCOME_LOST,
	OUTCOME_HELD,   /* not begun: another owner's run has a host */
	OUTCOME_AWAY,   /* not begun: a host was not reachable */
	OUTCOME_DENIED, /* not begun: a host refused access */
	OUTCOME_OTHER,  /* could not be prepared or started */
};

struct attempt_outcome {
	enum attempt_cause cause;
	/* For OUTCOME_TASK, and for OUTCOME_LOST if a task's host was lost. */
	const struct task_record *task;
	int exit_code; /* of the run; -1: none */
	/* The reason, with the task's last words; NULL after success.  Lives as
	 * long as the attempt. */
	const char *why;
};

#endif
