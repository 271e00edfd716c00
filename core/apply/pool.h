/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of threads for blocking calls, up to a limit, started on demand.
 * Results return to the one thread that owns the pool, which waits for
 * pool_fd() in its loop.
 */
#ifndef JOBRUN_POOL_H
#define JOBRUN_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

struct pool;

/* A call to make, embedded in the caller's struct.  The pool owns it from
 * pool_add() until pool_next() returns it. */
struct work {
	void (*call)(struct work *work); /* runs in a thread of the pool */
	struct work *next;               /* the pool's */
};

struct pool *pool_new(size_t threads, struct error *err);
/* Drops the queued calls and waits for those in progress. */
void pool_free(struct pool *pool);
int pool_fd(const struct pool *pool); /* readable when a call is finished */

/* Queues a call, before all that are not urgent if it is `urgent`.  Fails if
 * the pool has no thread and cannot start one. */
int pool_add(struct pool *pool, struct work *work, bool urgent,
	     struct error *err);

/* Returns a finished call, or NULL; then pool_fd() is no longer readable. */
struct work *pool_next(struct pool *pool);

#endif
