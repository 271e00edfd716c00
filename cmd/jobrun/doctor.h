/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of `doctor`: a list, in groups. */
#ifndef JOBRUN_DOCTOR_H
#define JOBRUN_DOCTOR_H

#include "core/provider/checks.h"

/* Checks where runs are recorded.  Creates nothing. */
void doctor_state(struct checks *all);

#endif
