/* SPDX-License-Identifier: Apache-2.0 */
/* What has ended an attempt at a run: jobrun.restart decides by it (restart.h),
 * wherever the tasks ran. */
#ifndef JOBRUN_ATTEMPT_OUTCOME_H
#define JOBRUN_ATTEMPT_OUTCOME_H

#include "core/store/store.h"

/* What has ended an attempt. */
enum attempt_cause {
	OUTCOME_SUCCESS,
	OUTCOME_CANCEL, /* asked to, or out of time */
	OUTCOME_TASK, /* one exited with another code than 0, or by a signal */
	OUTCOME_LOST, /* the host of one was preempted, or lost otherwise;
		       * or it is not to be had for another attempt */
	OUTCOME_HELD, /* before anything began: another owner's run has a host */
	OUTCOME_AWAY,   /* before anything began: a host was not reached */
	OUTCOME_DENIED, /* before anything began: a host let nobody in */
	OUTCOME_OTHER,  /* it could not be prepared or started */
};

struct attempt_outcome {
	enum attempt_cause cause;
	/* Of OUTCOME_TASK, and of OUTCOME_LOST if it was the host of one. */
	const struct task_record *task;
	int exit_code;   /* of the run; -1: none */
	const char *why; /* NULL after success; with the last words of the
			  * task.  Lives as long as the attempt. */
};

#endif
