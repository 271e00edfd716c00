/* SPDX-License-Identifier: Apache-2.0 */
/* How many samples of each shard were taken in some epochs. */
#ifndef JOBRUN_SHARD_TAKEN_H
#define JOBRUN_SHARD_TAKEN_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/alloc.h"

struct shard_epoch {
	uint64_t epoch;
	uint64_t *samples; /* of each shard of the list */
};

/* Nothing is known of other epochs. */
struct shard_taken {
	struct shard_epoch *epochs; /* ascending */
	size_t count;
};

/* The epoch, or NULL; `taken` may be NULL. */
const struct shard_epoch *shard_taken_epoch(const struct shard_taken *taken,
					    uint64_t epoch);
/* The epoch, which is added without samples if it is missing. */
struct shard_epoch *shard_taken_add(struct shard_taken *taken, uint64_t epoch,
				    size_t shards, struct arena *mem);

#endif
