/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One lock per job: of all processes that share a store, only one at a time
 * changes what a job has made.
 *
 *	FOLDER/JOBID	locked with flock while it is held; says who holds it
 *
 * The kernel releases the lock when the holder dies, for whatever reason.
 * Processes that the holder starts, directly or not, never inherit a lock.
 */
#ifndef JOBRUN_LOCK_H
#define JOBRUN_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

struct lock_set;

/*
 * Takes the locks of all these jobs, or none; duplicate names count once.
 * Locks are taken in the order of their names, so two processes that want the
 * same ones cannot deadlock.  A lock that is held is waited for until
 * `timeout_ms` have passed, then the call fails with ERROR_TRY_AGAIN and says
 * who holds it.  `waiting`, which may be NULL, is called once for each such
 * lock.
 */
struct lock_set *lock_set_take(const char *folder, const char *const *job_ids,
			       size_t count, int64_t timeout_ms,
			       void (*waiting)(void *arg,
					       const struct error *why),
			       void *arg, struct error *err);
/* Takes the free ones of these locks, without waiting. */
struct lock_set *lock_set_take_free(const char *folder,
				    const char *const *job_ids, size_t count,
				    struct error *err);
bool lock_set_has(const struct lock_set *set, const char *job_id);
/* Whether a killed holder left the lock file behind.  The test takes no lock,
 * so it never blocks a process that wants it. */
bool lock_is_stale(const char *folder, const char *job_id);
/* Whether a live process seems to hold the lock; the test does not take it. */
bool lock_is_held(const char *folder, const char *job_id);
/* Releases one lock, if the set holds it. */
void lock_set_release(struct lock_set *set, const char *job_id);
/* Releases all locks of the set. */
void lock_set_free(struct lock_set *set);

#endif
