/* SPDX-License-Identifier: Apache-2.0 */
/* A plan as an HTML page, in the style of a report. */
#ifndef JOBRUN_PLAN_PAGE_H
#define JOBRUN_PLAN_PAGE_H

#include "core/plan/plan.h"

void plan_html(const struct plan *plan, struct buf *out);

#endif
