/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists shards in the order in which one process reads them: expands patterns,
 * adds facts from an index, shuffles, splits, epoch after epoch.
 */
#ifndef JOBRUN_SHARD_LIST_H
#define JOBRUN_SHARD_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/alloc.h"
#include "core/shard/shard_index.h"
#include "core/shard/shard_taken.h"
#include "core/data/split.h"
#include "core/stream/stream.h"

struct shard_list {
	struct stream_object *items;
	uint64_t *samples; /* of each shard; NULL without an index */
	size_t count;
};

/*
 * Expands `patterns` (see brace.h).  Unless `index` is NULL, it must contain
 * each shard, by the last part of its name.  Without patterns: all shards of
 * the index, which is at `index_url`.  The result lives in `mem` and borrows
 * `index`.  An empty list is also ERROR_INVALID.
 */
int shard_list_make(const char *const *patterns, size_t count,
		    const struct shard_index *index, const char *index_url,
		    struct arena *mem, struct shard_list *out,
		    struct error *err);

/* One process's iteration over the list. */
struct shard_walk {
	const struct shard_list *list;
	struct split split;
	bool shuffle; /* in a different order each epoch */
	uint64_t seed;
	uint64_t epoch;  /* the next epoch */
	uint64_t epochs; /* epochs left; UINT64_MAX: endless */
	/* One of several consumers that take turns on the process's share;
	 * `consumers` 0: the only one. */
	long consumer, consumers;
	/* What earlier walks have taken, which this one leaves out; or NULL:
	 * borrowed. */
	const struct shard_taken *taken;

	/* The shards of the current epoch that have samples left, in order;
	 * shard_walk_done() frees it. */
	size_t *order;
	size_t left;
	size_t at, length;
	size_t share; /* of all consumers together */
	/* what is taken in this epoch, or NULL */
	const struct shard_epoch *had;
};

void shard_walk_done(struct shard_walk *walk);
/* Sets the shards in the order of that epoch. */
void shard_walk_order(const struct shard_walk *walk, uint64_t epoch,
		      size_t *order);
/* The number of the shard that shard_walk_next() has returned last. */
size_t shard_walk_last(const struct shard_walk *walk);
/* A stream_next; `arg` is the walk. */
int shard_walk_next(void *arg, struct stream_object *out, struct error *err);

#endif
