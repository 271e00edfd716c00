/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which samples go into which shard: a run of neighbours into each. */
#ifndef JOBRUN_SHARD_PLAN_H
#define JOBRUN_SHARD_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/shard/samples.h"

/* The numbers have six digits. */
#define SHARD_COUNT_MAX 1000000

/* 0 for none.  A shard ends where the first is reached; a sample is never
 * divided, so one that is larger than `bytes` has a shard of its own. */
struct shard_limits {
	uint64_t samples; /* in one shard */
	uint64_t bytes;   /* of its tar file; needs the sizes of all files */
	uint64_t shards;  /* in all, with equal numbers of samples, one more or
			   * less; excludes the others */
};

struct shard_plan {
	size_t *first; /* `count` + 1: where each begins, and where all end */
	size_t count;
};

int shard_plan_make(const struct samples *all,
		    const struct shard_limits *limits, struct shard_plan *out,
		    struct error *err);
void shard_plan_done(struct shard_plan *plan);

/* A digest of the i-th shard's contents, as far as they are known before it is
 * written: names, classes, sizes if the caller asked for them. */
int shard_plan_digest(const struct samples *all, const struct shard_plan *plan,
		      size_t i, struct digest *out, struct error *err);

#endif
