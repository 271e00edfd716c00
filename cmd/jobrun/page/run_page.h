/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a report about one run. */
#ifndef JOBRUN_RUN_PAGE_H
#define JOBRUN_RUN_PAGE_H

#include "cmd/jobrun/view/run_story.h"
#include "core/base/buf.h"

/* `id` is the element's, unique in the page; open: not folded. */
void run_html(struct session *session, const struct run_story *story,
	      const char *id, bool open, struct buf *out);

#endif
