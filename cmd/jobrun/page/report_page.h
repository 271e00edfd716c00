/* SPDX-License-Identifier: Apache-2.0 */
/* The page of 'jobrun report'. */
#ifndef JOBRUN_REPORT_PAGE_H
#define JOBRUN_REPORT_PAGE_H

#include "cmd/jobrun/view/run_story.h"
#include "core/base/buf.h"

struct report_runs {
	struct session *session;
	const struct run_story *stories;
	size_t count;
};

void report_html(const struct report_runs *report, struct buf *out);

#endif
