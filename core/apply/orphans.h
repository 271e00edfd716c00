/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources that no job needs any more, by what their labels and those of the
 * job's run say: the store may be lost.  If it is there, it knows which
 * commands of this machine were killed.
 */
#ifndef JOBRUN_ORPHANS_H
#define JOBRUN_ORPHANS_H

#include "core/provider/listing.h"
#include "core/provider/provider.h"
#include "core/store/store.h"

/* How long after its last entry in the journal a command that was killed may
 * have made something still: that was made later is somebody else's. */
#define ORPHAN_AFTER_MS (3600 * INT64_C(1000))

struct orphan_rules {
	int64_t now_ms;
	/* What was made since then and has no run yet is none: somebody may be
	 * about to start one. */
	int64_t young_ms;
	/* The same of what a command that was killed has made; nobody goes on
	 * with it but by another one. */
	int64_t young_killed_ms;
	const char *provider;
	const struct intent_list *open; /* in the journal */
};

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
 * deleted.  What `cleanup` keeps is none until it has expired.
 */
void orphans_find(const struct listing *all, const struct orphan_rules *rules,
		  struct orphans *out);
void orphans_done(struct orphans *orphans);

#endif
