/* SPDX-License-Identifier: Apache-2.0 */
/* The trials of a run: parallel coordinates, and a table. */
#ifndef JOBRUN_TRIALS_PAGE_H
#define JOBRUN_TRIALS_PAGE_H

#include "cmd/jobrun/view/run_story.h"
#include "core/base/buf.h"

/* Sorted with the best first.  `id` is the page's name of the run. */
void trials_html(const struct run_story *story, const char *id,
		 struct buf *out);

#endif
