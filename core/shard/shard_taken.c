/* SPDX-License-Identifier: Apache-2.0 */
#include "core/shard/shard_taken.h"

const struct shard_epoch *shard_taken_epoch(const struct shard_taken *taken,
					    uint64_t epoch)
{
	size_t i;

	for (i = 0; taken && i < taken->count; i++)
		if (taken->epochs[i].epoch == epoch)
			return &taken->epochs[i];
	return NULL;
}

struct shard_epoch *shard_taken_add(struct shard_taken *taken, uint64_t epoch,
				    size_t shards, struct arena *mem)
{
	struct shard_epoch *grown;
	size_t at = 0, i;

	while (at < taken->count && taken->epochs[at].epoch < epoch)
		at++;
	if (at < taken->count && taken->epochs[at].epoch == epoch)
		return &taken->epochs[at];
	grown = arena_alloc(mem, (taken->count + 1) * sizeof(*grown));
	for (i = 0; i < taken->count; i++)
		grown[i < at ? i : i + 1] = taken->epochs[i];
	grown[at].epoch = epoch;
	grown[at].samples = arena_alloc(mem, shards * sizeof(uint64_t));
	taken->epochs = grown;
	taken->count++;
	return &grown[at];
}
