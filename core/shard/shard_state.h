/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the consumers of a data set have come, so that another walk, with
 * other consumers, reads exactly the rest.  A state is lines of JSON, one for
 * each consumer, in a file or in several files of a folder:
 *
 *	{
 *	  "data": "train",	the set
 *	  "list": "9f86d0...",	a digest of its shards and their order
 *	  "start": 3,		the epoch in which the walks began
 *	  "base": [{"epoch": 3, "taken": "0-47,48:17"}],
 *				what was taken before that, by the place of the
 *				shards in the epoch: 48 whole ones, and 17
 *				samples of the next
 *	  "host": 0, "hosts": 2, "device": 0, "devices": 1,
 *	  "consumer": 1, "consumers": 4, "uneven": "exact",
 *	  "epoch": 3, "samples": 412
 *				what this one has taken: all of its share of the
 *				epochs before, and 412 samples of this one
 *	}
 */
#ifndef JOBRUN_SHARD_STATE_H
#define JOBRUN_SHARD_STATE_H

#include "core/base/buf.h"
#include "core/shard/shard_list.h"

struct shard_state {
	struct shard_taken taken;
	uint64_t epoch; /* the first one that is not over */
};

/*
 * Reads what consumers of the set `name` have taken of the walk's list; the
 * walk's share does not matter.  Returns 1 if `path` is missing or says nothing
 * of that set.  ERROR_INVALID: it is of another list or order, or a consumer is
 * missing.  The result lives in `mem`.
 */
int shard_state_read(const char *path, const char *name,
		     const struct shard_walk *walk, struct arena *mem,
		     struct shard_state *out, struct error *err);

/* Adds the line of a consumer that has taken so many samples of a walk, which
 * has not begun. */
int shard_state_print(const struct shard_walk *walk, const char *name,
		      uint64_t samples, struct buf *out, struct error *err);

#endif
