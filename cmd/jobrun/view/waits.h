/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that wait for the runs of others (jobrun.after): recorded while an apply
 * keeps them waiting, and shown by status. */
#ifndef JOBRUN_WAITS_H
#define JOBRUN_WAITS_H

#include "cmd/jobrun/ui/session.h"
#include "core/apply/executor.h"

/* Whether some job of the plan waits for the run of another one. */
bool waits_any(const struct plan *plan);
/* Records those that wait, and those that the plan skips. */
int waits_begin(const struct session *session, struct error *err);
/* To be called when the run has started, before others may change its job. */
int waits_end(const struct session *session, const struct action *action,
	      struct error *err);
/* To be called from the executor's `phase`. */
int waits_phase(const struct session *session, const struct action *action,
		enum action_phase phase, const struct error *why,
		struct error *err);

/* Whether somebody has cancelled the job while it waited. */
bool waits_is_cancelled(const struct session *session, const char *job_id);

/* QUEUED, SKIPPED or CANCELLED. */
const char *waits_state(const struct wait_record *wait);
/* Whether the job will not start any more. */
bool waits_are_over(const struct wait_record *wait);

/* The record of the job, or NULL. */
const struct wait_record *waits_find(const struct wait_list *list,
				     const char *job_id);
void waits_text(const struct session *session, const struct wait_list *list,
		struct buf *out);
json_t *waits_json(const struct session *session, const struct wait_list *list);

#endif
