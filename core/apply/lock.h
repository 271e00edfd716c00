/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock for each job, so that of all processes that share a store only one
 * at a time changes what a job has made.
 *
 *	FOLDER/JOBID	locked with flock while it is held; says who holds it
 *
 * The kernel lets go when the holder dies, however that happens.  Neither
 * what the holder starts nor what that starts inherits a lock.
 */
#ifndef JOBRUN_LOCK_H
#define JOBRUN_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

struct lock_set;

/*
 * Takes the locks of all these jobs, or none; one that is named twice is one.  They are taken by their names'
 * order, so that two who want the same ones never wait for each other in a
 * circle.  One that is held is waited for until `timeout_ms` are over, then
 * it fails with ERROR_TRY_AGAIN and says who holds it.  `waiting`, which may
 * be NULL, is told of that once for each lock.
 */
struct lock_set *lock_set_take(const char *folder, const char *const *job_ids,
			       size_t count, int64_t timeout_ms,
			       void (*waiting)(void *arg,
					       const struct error *why),
			       void *arg, struct error *err);
/* Takes the free ones, without waiting. */
struct lock_set *lock_set_take_free(const char *folder,
				    const char *const *job_ids, size_t count,
				    struct error *err);
bool lock_set_has(const struct lock_set *set, const char *job_id);
/* Whether the holder was killed, and left the file.  The test takes no lock, so
 * it never blocks a process that wants it. */
bool lock_is_stale(const char *folder, const char *job_id);
/* Somebody alive holds it, as far as can be seen without taking it. */
bool lock_is_held(const char *folder, const char *job_id);
/* Lets go of one, if it is held. */
void lock_set_release(struct lock_set *set, const char *job_id);
/* Releases all locks of the set. */
void lock_set_free(struct lock_set *set);

#endif
