/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources that no job needs any more, by what their labels and those of the
 * job's run say: the store is not asked, so it may be lost.
 */
#ifndef JOBRUN_ORPHANS_H
#define JOBRUN_ORPHANS_H

#include "core/listing.h"
#include "core/provider.h"

struct orphan {
	const struct listed *it; /* of the listing */
	const char *why;         /* "its run is over" */
};

struct orphans {
	struct orphan *items; /* in the order of the listing */
	size_t count;
};

/*
 * Finds those in all that a provider has.  What a run uses that is not over is
 * none, however old; a run itself never is, its record is kept until it is
 * deleted.  What `cleanup` keeps is none until it has expired.  Neither is
 * what was made in the last `young_ms` and has no run yet: somebody may be
 * about to start one.
 */
void orphans_find(const struct listing *all, int64_t now_ms, int64_t young_ms,
		  struct orphans *out);
void orphans_done(struct orphans *orphans);

#endif
