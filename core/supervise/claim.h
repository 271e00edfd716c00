/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A claim says whose run of a job goes on.  It is an object below
 * jobrun.staging that the run's supervisor renews.  It is written only over the
 * version that was read, so of several clients that claim a job at once only
 * one succeeds.  It stays after the run, and says how that ended.
 */
#ifndef JOBRUN_CLAIM_H
#define JOBRUN_CLAIM_H

#include "core/provider/provider.h"

struct claim {
	const char *owner; /* see store_owner() */
	int64_t since_ms;
	int64_t until_ms; /* the end of its lease; 0: its run has ended */
	int64_t end_ms;   /* when it ended */
	struct run_status run;
};

/* How objects are read and written. */
struct claim_objects {
	/* `text` and `version` live in `mem`; a missing object has the text
	 * NULL and the version "". */
	int (*get)(void *arg, const char *url, struct arena *mem,
		   const char **text, const char **version, struct error *err);
	/* Fails unless the object still has that version. */
	int (*put)(void *arg, const char *url, const char *text,
		   const char *version, struct error *err);
	void *arg;
};

/* The object's URL, beside the one that ended_url() gives; in `mem`, or
 * NULL. */
const char *claim_url(const char *ended, struct arena *mem);
/* What is claimed there, and the version of that object; both live in `mem`.
 * 1: nothing. */
int claim_read(const struct claim_objects *objects, const char *url,
	       struct arena *mem, struct claim *out, const char **version,
	       struct error *err);
/* Whether both are the same owner; either may be NULL, which is nobody. */
bool claim_is_same_owner(const char *a, const char *b);
/* Whether its run goes on and its lease is not over. */
bool claim_is_live(const struct claim *claim);
/* Claims the job, or renews that.  1: another owner has a live claim, which is
 * then in `other`. */
int claim_take(const struct claim_objects *objects, const char *url,
	       const struct claim *own, struct arena *mem, struct claim *other,
	       struct error *err);

#endif
