/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads shards back, several at once, and compares them with their index:
 * size, CRC-32C, SHA-256 if the index has it, and for those on this machine
 * whether a reader of tar finds as many files and samples in them.
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
	const char *base; /* the directory or URL that they are in */
	unsigned threads; /* at least 1 */
	/* One is done: `wrong` says what is the matter, or is NULL.  One call
	 * at a time, in the order in which they end. */
	void (*each)(void *arg, size_t shard, const struct error *wrong);
	void *arg;
	atomic_bool stop;       /* set: end soon */
	_Atomic uint64_t bytes; /* bytes read so far */
};

/* Returns how many are wrong, or -1 if it was stopped or cannot start. */
long shard_verify(struct shard_verifying *how, struct error *err);

#endif
