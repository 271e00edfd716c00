/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the uploads of a run so far, checkpoints and logs, for 'status'. */
#ifndef JOBRUN_UPLOADS_H
#define JOBRUN_UPLOADS_H

#include <jansson.h>

#include "cmd/jobrun/ui/session.h"
#include "core/spec/upload_event.h"

struct uploads {
	const struct upload_event *resumed; /* what it goes on from, or NULL */
	const struct upload_event *last; /* the last that was kept, or NULL */
	const struct upload_event *failing; /* why none is since; or NULL */
	const struct upload_event *logs; /* why these are not copied; or NULL */
};

/* Lives in `mem`; all NULL if it has none. */
void uploads_read(struct session *session, const struct run_record *run,
		  struct arena *mem, struct uploads *out);

/* A line for each, as `status` shows them; only the failing one with
 * `briefly`. */
void uploads_text(const struct uploads *kept, bool briefly, struct buf *out);
/* Into the object of a run: "checkpoints" and "logs", if there is something to
 * say of them. */
void uploads_json(const struct uploads *kept, json_t *run);

#endif
