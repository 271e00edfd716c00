/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renews the claim to a job while its run goes on, from a thread of its own:
 * see core/supervise/claim.h.
 */
#ifndef JOBRUN_CLAIM_KEEPER_H
#define JOBRUN_CLAIM_KEEPER_H

#include "core/data/object_store.h"
#include "core/store/store.h"

struct claim_keeper;

/* All copied.  `owner` is that of the store. */
struct claim_keeper_deps {
	const struct object_scheme *const *schemes;
	const char *url;
	const char *owner;
	long lease_s;
};

/* Claims the job for the run at once.  Returns new, or NULL. */
struct claim_keeper *claim_keeper_new(const struct claim_keeper_deps *deps,
				      const struct run_record *run,
				      struct error *err);
/* Whether another owner has claimed the job, as nothing was heard of us for
 * the lease.  Renews the claim to find out, which takes a
 * request, and at most 15 s.  Accepts NULL. */
bool claim_keeper_is_lost(struct claim_keeper *keeper);
/* Gives the claim up; `run` is how it ended.  NULL: it is left to expire.
 * Accepts NULL. */
void claim_keeper_end(struct claim_keeper *keeper,
		      const struct run_record *run);

#endif
