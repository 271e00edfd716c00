/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads for calls that block, up to a bound, made when they are needed.
 * Results return to the one thread that owns the pool, which waits for
 * pool_fd() in its loop.
 */
#ifndef JOBRUN_POOL_H
#define JOBRUN_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/error.h"

struct pool;

/* A call to make: embedded in what it works on.  From pool_add() until
 * pool_next() returns it, it belongs to the pool. */
struct work {
	void (*call)(struct work *work); /* in a thread */
	struct work *next;               /* the pool's */
};

struct pool *pool_new(size_t threads, struct error *err);
/* Drops what is queued, waits for the calls under way. */
void pool_free(struct pool *pool);
int pool_fd(const struct pool *pool); /* readable: something is done */

/* `urgent` goes before all that is not.  Fails if there is no thread at all
 * and none can be made. */
int pool_add(struct pool *pool, struct work *work, bool urgent,
	     struct error *err);

/* Work that was done, or NULL; makes pool_fd() unreadable. */
struct work *pool_next(struct pool *pool);

#endif
