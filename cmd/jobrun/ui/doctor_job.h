/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of `doctor` for job files: what each job needs, and only that. */
#ifndef JOBRUN_DOCTOR_JOB_H
#define JOBRUN_DOCTOR_JOB_H

#include "cmd/jobrun/ui/session.h"
#include "core/provider/checks.h"

/* Checks what these jobs need, each in a group with its name: their files and
 * buckets, what their providers check, and whether they can be planned.
 * Changes nothing; several jobs at a time. */
void doctor_jobs(struct session *session, const struct jobs *jobs,
		 struct checks *all);

#endif
