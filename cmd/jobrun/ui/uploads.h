/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the uploads of a run so far, checkpoints and logs, for 'status'. */
#ifndef JOBRUN_UPLOADS_H
#define JOBRUN_UPLOADS_H

#include <jansson.h>

#include "cmd/jobrun/ui/session.h"
#include "core/spec/upload_event.h"

struct uploads {
	/* the checkpoint it resumes from, or NULL */
	const struct upload_event *resumed;
	/* the last checkpoint saved, or NULL */
	const struct upload_event *last;
	/* why none was saved since; or NULL */
	const struct upload_event *failing;
	/* why logs are not uploaded; or NULL */
	const struct upload_event *logs;
};

/* Lives in `mem`; all NULL if there are none. */
void uploads_read(struct session *session, const struct run_record *run,
		  struct arena *mem, struct uploads *out);

/* Adds a line for each, for `status`; with `briefly` only for the failing
 * one. */
void uploads_text(const struct uploads *kept, bool briefly, struct buf *out);
/* Adds "checkpoints" and "logs" to the object of a run, if there is anything to
 * report. */
void uploads_json(const struct uploads *kept, json_t *run);

#endif
