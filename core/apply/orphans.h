/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds resources that no job needs any more, from their labels and those of
 * the job's run, as the store may be lost.  If the store exists, it knows which
 * commands of this machine were killed.
 */
#ifndef JOBRUN_ORPHANS_H
#define JOBRUN_ORPHANS_H

#include "core/provider/listing.h"
#include "core/provider/provider.h"
#include "core/store/store.h"

/* A killed command may still have made a resource this long after its last
 * journal entry; anything made later belongs to somebody else. */
#define ORPHAN_AFTER_MS (3600 * INT64_C(1000))

struct orphan_rules {
	int64_t now_ms;
	/* A younger resource without a run is not an orphan: its run may be
	 * about to start. */
	int64_t young_ms;
	/* The same for resources of a killed command, which only another
	 * command can resume. */
	int64_t young_killed_ms;
	/* The user has set the age of the orphans to find. */
	bool age_is_asked;
	const char *provider;
	const struct intent_list *open; /* in the journal */
};

struct orphan {
	const struct listed *it; /* from the listing */
	const char *why;         /* "its run is over" */
};

struct orphans {
	struct orphan *items; /* in the order of the listing */
	size_t count;
};

/*
 * Finds the orphans among a provider's resources.  A resource of an unfinished
 * run is not an orphan, however old.  Nor is a run itself: its record is kept
 * until it is deleted.  Resources kept by `cleanup` are not orphans until they
 * expire.
 */
void orphans_find(const struct listing *all, const struct orphan_rules *rules,
		  struct orphans *out);
void orphans_done(struct orphans *orphans);

#endif
