/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resources at a provider that jobrun made, from the provider's labels, for
 * commands without a job file (pruning, gc, delete).
 *
 *	jobrun-job, jobrun-digest	whose it is
 *	jobrun-applyset			the set it was applied in; if that does
 *					not fit, its digest
 *	jobrun-origin			where its file is; or a label of that
 *	jobrun-cleanup			always, on-success or never
 *	jobrun-expires			when it can no longer be of use
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
	const char *set;        /* NULL: unknown there */
	const char *set_digest; /* see set_digest(); or NULL */
	const char *origin; /* see core/job/origin.h, or its label; or NULL */
	int cleanup;        /* enum cleanup */
	int64_t expire_time_ms; /* since 1970; 0: never */
	/* Its user keeps extending the expiry, maybe from another machine. */
	bool renewed;
	/* The resource waits in a queue, and cannot tell whether anybody still
	 * waits for it. */
	bool waits;
};

struct listed {
	const struct kind *kind;
	const char *name;
	const char *place; /* as resource.place */
	const char *where; /* the same for people, or NULL: "cluster 'x'" */
	struct labels labels;
	int64_t create_time_ms; /* 0: not known */
	bool live;              /* a run that is not over */
	bool succeeded;         /* a run that is over, and how it ended */
};

/* A place that could not be read: its contents are unknown. */
struct unreached {
	const char *place; /* NULL: any */
	struct error why;
};

struct listing {
	struct arena *mem; /* owns all strings */
	struct listed *items;
	size_t count, room;
	struct unreached *unreached;
	size_t unreached_count;
};

void listing_init(struct listing *listing);
void listing_done(struct listing *listing);
/* Copies all strings. */
void listing_add(struct listing *listing, const struct listed *one);
/* Adds a place that could not be reached, if it is not listed yet; copies. */
void listing_add_unreached(struct listing *listing, const char *place,
			   const struct error *why);
/* Whether resources at that place (NULL: at any) may be missing. */
bool listing_lacks(const struct listing *listing, const char *place);
/* For callers that need everything: fails if a place could not be reached. */
int listing_check(const struct listing *listing, struct error *err);
/* Sorts by kind (as in `kinds`, NULL-terminated), then by name and place,
 * whatever order the provider answered in, and drops duplicates. */
void listing_sort(struct listing *listing, const struct kind *const *kinds);

/* The labels for a resource of the job that is made now; borrows from the job.
 * It expires some time after the longest that the job may wait and run. */
struct labels labels_of(const struct job *job, int64_t now_ms);

/* Replaces the name of a set in a label that is limited to 63 letters and
 * digits: some digits of its SHA-256. */
#define SET_DIGEST_MAX 41 /* including its NUL */
void set_digest(const char *set, char out[SET_DIGEST_MAX]);
/* Whether the labels name this set, or any. */
bool labels_are_of_set(const struct labels *labels, const char *set);
bool labels_are_of_a_set(const struct labels *labels);

/* The name for a label: "on-success"; for any unknown value "always". */
const char *cleanup_name(int cleanup);
int cleanup_parse(const char *name);

#endif
