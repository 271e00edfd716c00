/* SPDX-License-Identifier: Apache-2.0 */
/* The states of runs and tasks, named as in AI Platform's Job.State. */
#ifndef JOBRUN_RUN_STATE_H
#define JOBRUN_RUN_STATE_H

#include <stdbool.h>

enum run_state {
	RUN_QUEUED,    /* recorded, nothing started yet */
	RUN_PREPARING, /* packages, set-up, machines */
	RUN_RUNNING,
	RUN_SUCCEEDED,
	RUN_FAILED,
	RUN_CANCELLING, /* asked to end, still running */
	RUN_CANCELLED,
};

const char *run_state_name(enum run_state state); /* "RUNNING" */
/* Returns -1 if there is no such state. */
int run_state_parse(const char *name, enum run_state *out);
/* Whether the state is final. */
bool run_state_is_final(enum run_state state);

#endif
