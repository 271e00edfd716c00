/* SPDX-License-Identifier: Apache-2.0 */
/* Counts how each job of an apply ended, for the summary. */
#ifndef JOBRUN_TALLY_H
#define JOBRUN_TALLY_H

#include "cmd/jobrun/ui/session.h"
#include "core/apply/executor.h"

struct tally;

/* Borrows the session with its plan; `detach`: runs are only started. */
struct tally *tally_new(const struct session *session, bool detach);
void tally_free(struct tally *tally);

/* Records that this run is left alone before it has ended. */
void tally_leave(struct tally *tally, const struct action *action);
/* To be called from the executor's `phase`. */
void tally_phase(struct tally *tally, const struct action *action,
		 enum action_phase phase, const struct run_status *status,
		 const struct error *err);

/* Whether everything planned for the job was done. */
bool tally_is_done(const struct tally *tally, const struct job *job);
/* Whether a job failed, now or before, or did not start, as one that it is
 * after failed. */
bool tally_is_bad(const struct tally *tally);

/* Whether there is more than one job, so that a summary is printed. */
bool tally_is_of_many(const struct tally *tally);
/* Prints "3 jobs: 1 succeeded, 1 failed, 1 unchanged", and each failed job; for
 * a single job, how to go on if something could not be done. */
void tally_say(const struct tally *tally);

#endif
