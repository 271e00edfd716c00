/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides shards among processes.  Hosts take shards in turn, and the devices
 * (processes) of a host take the host's in turn; all get equally many.  No
 * shard is left out.  Where the number does not come out even, the first ones
 * are read twice, by others (SPLIT_REPEAT), or the last ones by nobody
 * (SPLIT_DROP).  All of this follows from the numbers alone, so that processes
 * agree without talking.
 */
#ifndef JOBRUN_SPLIT_H
#define JOBRUN_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

#define SPLIT_MAX 1000000 /* hosts, or devices of a host */

enum split_uneven {
	SPLIT_REPEAT,
	SPLIT_DROP,
};

struct split {
	long host, hosts;     /* 0 <= host < hosts */
	long device, devices; /* devices of each host */
	int uneven;           /* enum split_uneven */
};

/* Everything to one. */
#define SPLIT_ALL                                                              \
	{                                                                      \
		.hosts = 1, .devices = 1                                       \
	}

/* "host=0/2", "host=0/2,device=3/8" or "device=3/8", and ",uneven=drop". */
int split_parse(const char *text, struct split *out, struct error *err);

/* How many of `count` shards each gets. */
size_t split_length(const struct split *split, size_t count);
/* The place of its i-th one among all; i < split_length(). */
size_t split_at(const struct split *split, size_t count, size_t i);
/* How many shards are read twice, or by nobody. */
size_t split_repeated(const struct split *split, size_t count);
size_t split_dropped(const struct split *split, size_t count);

/*
 * Samples that everyone has in any epoch, in whatever order: as many as the
 * smallest shards have that one can get.  `samples` has those of each shard.
 */
uint64_t split_samples(const struct split *split, const uint64_t *samples,
		       size_t count);

/*
 * The order of `count` shards in an epoch: order[i] is the place in the list
 * of the one that comes as i-th.  The same numbers give the same order, in
 * every version of the program.
 */
void split_shuffle(uint64_t seed, uint64_t epoch, size_t *order, size_t count);

#endif
