/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of runs on command lines:
 *
 *	JOB		the newest run of the job
 *	JOB.3		the run with its attempt 3
 *	JOB/7, JOB.3/7	trial 7 of that run
 */
#ifndef JOBRUN_RUN_NAME_H
#define JOBRUN_RUN_NAME_H

#include "cmd/jobrun/ui/session.h"

/* Finds the run, and refreshes it; `trial` is 0 if the name has none.  Strings
 * live in `mem`. */
int run_name_find(struct session *session, const char *name, struct arena *mem,
		  struct run_record *run, int *trial, struct error *err);

#endif
