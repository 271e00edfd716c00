/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads shards back, several at once, and compares them with their index: size,
 * CRC-32C, SHA-256 if the index has it, and for local shards the number of
 * files and samples that a tar reader finds.
 */
#ifndef JOBRUN_SHARD_VERIFY_H
#define JOBRUN_SHARD_VERIFY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/data/object_store.h"
#include "core/shard/shard_index.h"

struct shard_verifying {
	struct object_store *store;
	const struct shard_index *index;
	const char *base; /* the directory or URL of the shards */
	unsigned threads; /* at least 1 */
	/* Reports a finished shard: `wrong` says what is wrong, or is NULL.
	 * One call at a time, in the order in which shards finish. */
	void (*each)(void *arg, size_t shard, const struct error *wrong);
	void *arg;
	atomic_bool stop;       /* set it to stop soon */
	_Atomic uint64_t bytes; /* bytes read so far */
};

/* Returns the number of bad shards, or -1 if it was stopped or cannot start. */
long shard_verify(struct shard_verifying *how, struct error *err);

#endif
