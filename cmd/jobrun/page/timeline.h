/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a run: attempts, their tasks, and trials, as bars and in
 * words. */
#ifndef JOBRUN_TIMELINE_H
#define JOBRUN_TIMELINE_H

#include "cmd/jobrun/view/run_story.h"
#include "core/base/buf.h"

void timeline_html(const struct run_story *story, struct buf *out);
/* The first task that failed in an attempt, or NULL. */
const struct task_record *timeline_failed_first(const struct task_list *tasks);

#endif
