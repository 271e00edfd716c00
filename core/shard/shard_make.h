/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a set of shards: several at once, each in its own thread.  Shards that
 * an earlier, killed process finished are kept if the sources have not changed
 * since.  The first failure stops everything.
 *
 * Memory: the samples, and a block for each thread.
 */
#ifndef JOBRUN_SHARD_MAKE_H
#define JOBRUN_SHARD_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/shard/samples.h"
#include "core/shard/shard_index.h"
#include "core/shard/shard_plan.h"
#include "core/shard/shard_target.h"

struct shard_settings {
	const char *prefix; /* of names: PREFIX-000000.tar */
	bool sha256;        /* also compute it, for the index */
	unsigned threads;   /* at least 1 */
};

struct shard_progress {
	size_t shards;           /* shards, kept or made */
	size_t kept;             /* shards kept from an earlier process */
	uint64_t samples, bytes; /* in the shards that this process made */
	uint64_t kept_samples;
};

struct shard_making;

/* Starts and returns at once.  Borrows its arguments.  Returns new, or NULL. */
struct shard_making *shard_make_start(const struct samples *all,
				      const struct shard_plan *plan,
				      const struct shard_settings *settings,
				      struct shard_target *target,
				      struct error *err);
/* Readable when everything is done, including the index. */
int shard_make_fd(const struct shard_making *making);
void shard_make_progress(const struct shard_making *making,
			 struct shard_progress *out);
/* Makes it stop soon, with ERROR_INTERRUPTED. */
void shard_make_stop(struct shard_making *making);
/* Waits for the end; `out` lives in `mem`, but its classes live with the
 * samples.  Frees `making`, also on failure. */
int shard_make_end(struct shard_making *making, struct arena *mem,
		   struct shard_index *out, struct error *err);

#endif
