/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JOBRUN_MARKDOWN_DETAILS_H
#define JOBRUN_MARKDOWN_DETAILS_H

#include "core/plan/plan.h"

/* How much of each is shown. */
struct markdown_room {
	size_t width;   /* columns of a value or a sentence; 0: all */
	size_t changes; /* of an action; 0: all */
	size_t files;   /* names of files of a source; 0: all */
};

/* All actions for a job as a folded diff block: of each first what changes,
 * then what is new; and below what it ships. */
void markdown_details(const struct plan_job *job,
		      const struct markdown_room *room, struct buf *out);

#endif
