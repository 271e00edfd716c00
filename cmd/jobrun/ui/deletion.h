/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds everything that one job has made, at any provider, to delete it: by
 * labels at every provider that may have something of it, with the job's file
 * or without.
 */
#ifndef JOBRUN_DELETION_H
#define JOBRUN_DELETION_H

#include "cmd/jobrun/ui/session.h"
#include "core/apply/remains.h"

struct deletion {
	struct session *session;
	const char *job_id;
	const struct job *job; /* from a file, or NULL */
	bool force;            /* forget what cannot be looked at */
	/* also delete what a job of another origin has made */
	bool take_over;

	/* Filled in by deletion_find(): */
	struct arena *mem;
	struct member_list members; /* of all jobs */
	struct intent_list intents; /* of all jobs */
	/* its newest run; job_id NULL: there is none */
	struct run_record run;
	struct plan *plan;
	struct remains remains[SESSION_PROVIDERS];
	size_t count;
	/* With force: providers that could not be looked at, and a sentence
	 * about each place. */
	const struct provider *blind[SESSION_PROVIDERS];
	size_t blind_count;
	struct buf left;
};

/*
 * Plans the deletion.  Fails if the run is in progress, is of a job of another
 * origin, or if a place that may have something of the job can't be reached;
 * other places do not matter.  The caller calls deletion_done(), also after a
 * failure.
 */
int deletion_find(struct deletion *deletion, struct error *err);
/* Whether there is nothing to do. */
bool deletion_is_empty(const struct deletion *deletion);
/* With force: stops looking after what its runs may have left on hosts.  If
 * `now`, ends it first; otherwise sets `left` to what it may be. */
int deletion_end_left(struct deletion *deletion, bool now, struct error *err);
/* To be called when everything is deleted: removes the job from all sets, and
 * with force from the store. */
int deletion_forget(struct deletion *deletion, struct error *err);
void deletion_done(struct deletion *deletion);

#endif
