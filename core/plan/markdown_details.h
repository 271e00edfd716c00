/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOBRUN_MARKDOWN_DETAILS_H
#define JOBRUN_MARKDOWN_DETAILS_H

#include "core/plan/plan.h"

/* Limits of what is shown. */
struct markdown_room {
	size_t width;   /* columns of a value or a sentence; 0: no limit */
	size_t changes; /* changes of an action; 0: all */
	size_t files;   /* file names of a source; 0: all */
};

/* Adds all actions of a job as a folded diff block, each with its changes first
 * and then its new fields; below the block, the files it ships. */
void markdown_details(const struct plan_job *job,
		      const struct markdown_room *room, struct buf *out);

#endif
