/* SPDX-License-Identifier: Apache-2.0 */
/* What supervised.c needs of the runs of other owners, which are kept in
 * buckets: see core/supervise/claim.h and ended.h. */
#ifndef JOBRUN_ELSEWHERE_H
#define JOBRUN_ELSEWHERE_H

#include "core/store/store.h"
#include "core/supervise/supervised.h"

/* Looks at another owner's run of the job: one that goes on, or one of the same
 * digest that has ended.  1: there is none. */
int elsewhere_look(const struct supervised *as, const struct job *job,
		   struct arena *mem, struct claim *out, struct error *err);
/* Sets what `read` found from that. */
void elsewhere_show(const struct claim *claim, const char *name,
		    struct resource *found);
/* The same from how a run of the job has ended; leaves `found` as it is if
 * there is none. */
int elsewhere_read_end(const struct supervised *as, const struct job *job,
		       struct arena *mem, struct resource *found,
		       struct error *err);
/* Claims the job for a run that is about to start, or gives that `up`; the
 * supervisor renews it.  1: another owner runs the same, which is followed. */
int elsewhere_claim(const struct supervised *as, const struct job *job, bool up,
		    struct arena *mem, struct error *err);
/* Forgets a run that began nothing, as another owner's run is followed. */
int elsewhere_follow(const struct supervised *as, const struct run_record *run,
		     struct error *err);
/* Looks whether the run of another owner has ended. */
int elsewhere_wait(const struct supervised *as, const struct resource *have,
		   struct arena *mem, enum wait_state *state,
		   struct error *err);
/* Forgets how a run of the job has ended, or else it would count as run.  The
 * claim of a run that goes on stays. */
int elsewhere_forget(const struct supervised *as, const char *ended,
		     struct arena *mem, struct error *err);

#endif
