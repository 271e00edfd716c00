/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What exists at a provider and was made by jobrun, as the provider's labels
 * say it: for whoever has no job file to ask with (pruning, gc, delete).
 *
 *	jobrun-job, jobrun-digest	whose it is
 *	jobrun-applyset			what it was applied as one of; where
 *					that has no room, its digest
 *	jobrun-origin			where its file is; or a label of that
 *	jobrun-cleanup			always, on-success or never
 *	jobrun-expires			when it can be of no use any more
 */
#ifndef JOBRUN_LISTING_H
#define JOBRUN_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/alloc.h"
#include "core/job/job.h"

struct kind;

struct labels {
	const char *job_id;
	const char *digest;     /* of the job; or NULL */
	const char *set;        /* or NULL: not known there */
	const char *set_digest; /* see set_digest(); or NULL */
	const char *origin; /* see core/job/origin.h, or its label; or NULL */
	int cleanup;        /* enum cleanup */
	int64_t expire_time_ms; /* since 1970; 0: never */
	/* Its user keeps moving that time on, maybe from another machine. */
	bool renewed;
	/* It waits in a queue, and cannot say whether anybody waits for it. */
	bool waits;
};

struct listed {
	const struct kind *kind;
	const char *name;
	const char *place; /* as resource.place */
	struct labels labels;
	int64_t create_time_ms; /* 0: not known */
	bool live;              /* a run that is not over */
	bool succeeded;         /* a run that is, and how */
};

/* A place that could not be looked at: what is there is not known. */
struct unreached {
	const char *place; /* NULL: any */
	struct error why;
};

struct listing {
	struct arena *mem; /* owns all texts */
	struct listed *items;
	size_t count, room;
	struct unreached *unreached;
	size_t unreached_count;
};

void listing_init(struct listing *listing);
void listing_done(struct listing *listing);
/* Copies all texts. */
void listing_add(struct listing *listing, const struct listed *one);
/* Adds a place that could not be reached, each once; copies. */
void listing_add_unreached(struct listing *listing, const char *place,
			   const struct error *why);
/* Whether something at that place, NULL: somewhere, may be missing. */
bool listing_lacks(const struct listing *listing, const char *place);
/* For whoever needs all of it: fails if a place could not be reached. */
int listing_check(const struct listing *listing, struct error *err);
/* By kind (as `kinds` has them, up to NULL), then by name and place: in one
 * order whatever the provider answered, and each once. */
void listing_sort(struct listing *listing, const struct kind *const *kinds);

/* What a resource of the job that is made now is to be labelled with; borrows
 * from the job.  The longest that the job may wait and run, and then some,
 * decide when it expires. */
struct labels labels_of(const struct job *job, int64_t now_ms);

/* What stands for the name of a set in a label that takes only letters, digits
 * and 63 of them: some digits of its SHA-256. */
#define SET_DIGEST_MAX 41 /* with its NUL */
int set_digest(const char *set, char out[SET_DIGEST_MAX], struct error *err);
/* Whether they name this set, or any. */
bool labels_are_of_set(const struct labels *labels, const char *set);
bool labels_are_of_a_set(const struct labels *labels);

/* "on-success": as it stands in a label; always, if it is anything else. */
const char *cleanup_name(int cleanup);
int cleanup_parse(const char *name);

#endif
