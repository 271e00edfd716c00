/* SPDX-License-Identifier: Apache-2.0 */
/* The check of `doctor` for where runs are recorded. */
#ifndef JOBRUN_DOCTOR_STATE_H
#define JOBRUN_DOCTOR_STATE_H

#include "core/provider/checks.h"

/* Checks where runs are recorded.  Creates nothing. */
void doctor_state(struct checks *all);

#endif
