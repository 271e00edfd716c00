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
	/* A younger resource without a run is no orphan: its run may be about
	 * to start. */
	int64_t young_ms;
	/* The same for resources of a command that was killed; only another
	 * command resumes it. */
	int64_t young_killed_ms;
	/* Somebody has said how old what is looked for is. */
	bool age_is_asked;
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
 * Finds the orphans among a provider's resources.  A resource of an unfinished
 * run is none, however old; a run itself never is, its record is kept until it
 * is deleted.  Resources kept by `cleanup` are none until they expire.
 */
void orphans_find(const struct listing *all, const struct orphan_rules *rules,
		  struct orphans *out);
void orphans_done(struct orphans *orphans);

#endif
