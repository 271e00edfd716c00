/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which samples go into which shard: each gets a run of neighbours. */
#ifndef JOBRUN_SHARD_PLAN_H
#define JOBRUN_SHARD_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/shard/samples.h"

/* Shard numbers have six digits. */
#define SHARD_COUNT_MAX 1000000

/* 0: no limit.  A shard ends at the first limit reached; samples are never
 * divided, so a sample larger than `bytes` has a shard of its own. */
struct shard_limits {
	uint64_t samples; /* in one shard */
	uint64_t bytes;   /* of its tar file; needs the sizes of all files */
	/* the number of shards, with equal numbers of samples, give or take
	 * one; excludes the other limits */
	uint64_t shards;
};

struct shard_plan {
	/* `count` + 1 indexes: where each shard begins, and where the last
	 * ends */
	size_t *first;
	size_t count;
};

int shard_plan_make(const struct samples *all,
		    const struct shard_limits *limits, struct shard_plan *out,
		    struct error *err);
void shard_plan_done(struct shard_plan *plan);

/* A digest of what is known of the i-th shard before it is written: names,
 * classes, sizes if the caller asked for them. */
void shard_plan_digest(const struct samples *all, const struct shard_plan *plan,
		       size_t i, struct digest *out);

#endif
