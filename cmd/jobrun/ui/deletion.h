/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one job has made, wherever, to delete it all: found by labels at every
 * provider that may have something of it, with its file or without.
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
	bool take_over;        /* also what a job of another origin has made */

	/* Filled in by deletion_find(): */
	struct arena *mem;
	struct member_list members; /* of all jobs */
	struct intent_list intents; /* of all jobs */
	struct run_record run;      /* its newest; job_id NULL: there is none */
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
 * Plans it.  Fails if the run goes on, if it is of a job of another origin, or
 * if a place can't be reached where something of the job may be; places that
 * have nothing to do with it do not matter.  The caller calls deletion_done(),
 * also after a failure.
 */
int deletion_find(struct deletion *deletion, struct error *err);
/* Whether there is anything to do. */
bool deletion_is_empty(const struct deletion *deletion);
/* With force: has what its runs may have left on hosts ended, if `now`, and else
 * says in `left` what that may be; then nobody looks after it any more. */
int deletion_end_left(struct deletion *deletion, bool now, struct error *err);
/* After it was done: it is in no set any more, and with force in the store
 * neither. */
int deletion_forget(struct deletion *deletion, struct error *err);
void deletion_done(struct deletion *deletion);

#endif
