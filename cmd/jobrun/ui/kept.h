/* SPDX-License-Identifier: Apache-2.0 */
/* What has become of a run's checkpoints, and of the copies of its logs, so
 * far, for who asks how it stands. */
#ifndef JOBRUN_KEPT_H
#define JOBRUN_KEPT_H

#include <jansson.h>

#include "cmd/jobrun/ui/session.h"
#include "core/spec/keeper_event.h"

struct kept {
	const struct keeper_event *resumed; /* what it goes on from, or NULL */
	const struct keeper_event *last; /* the last that was kept, or NULL */
	const struct keeper_event *failing; /* why none is since; or NULL */
	const struct keeper_event *logs; /* why these are not copied; or NULL */
};

/* Lives in `mem`; all NULL if it has none. */
void kept_read(struct session *session, const struct run_record *run,
	       struct arena *mem, struct kept *out);

/* A line for each, as `status` shows them; only the failing one with
 * `briefly`. */
void kept_text(const struct kept *kept, bool briefly, struct buf *out);
/* Into the object of a run: "checkpoints" and "logs", if there is something to
 * say of them. */
void kept_json(const struct kept *kept, json_t *run);

#endif
