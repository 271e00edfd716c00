/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOBRUN_MARKDOWN_DETAILS_H
#define JOBRUN_MARKDOWN_DETAILS_H

#include "core/plan/plan.h"

/* All actions for a job as a folded diff block. */
void markdown_details(const struct plan_job *job, struct buf *out);

#endif
