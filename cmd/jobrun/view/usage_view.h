/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the resources that a run has used. */
#ifndef JOBRUN_USAGE_VIEW_H
#define JOBRUN_USAGE_VIEW_H

#include <jansson.h>

#include "cmd/jobrun/ui/session.h"

/* Adds a line if the usage is known. */
void usage_text(struct session *session, const struct run_record *run,
		struct buf *out);
/* Adds "usage" to the object of a run. */
void usage_json(struct session *session, const struct run_record *run,
		json_t *to);

#endif
