/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides shards among processes.  Hosts take shards in turn, and the devices
 * (processes) of a host take the host's in turn; all get the same number.  If
 * the number does not divide evenly, the first shards are read twice, by
 * different readers (SPLIT_REPEAT), or the last ones by nobody (SPLIT_DROP), or
 * the first readers get one more than the others (SPLIT_EXACT).
 * The numbers alone determine all of this, so processes agree without talking.
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
	SPLIT_EXACT,
};

struct split {
	long host, hosts;     /* 0 <= host < hosts */
	long device, devices; /* devices of each host */
	int uneven;           /* enum split_uneven */
};

/* Gives everything to one process. */
#define SPLIT_ALL                                                              \
	{                                                                      \
		.hosts = 1, .devices = 1                                       \
	}

/* The names of enum split_uneven, ended by NULL. */
extern const char *const split_uneven_names[];

/* "host=0/2", "host=0/2,device=3/8" or "device=3/8", and ",uneven=drop". */
int split_parse(const char *text, struct split *out, struct error *err);

/* Reads "I/N", I counted from 0. */
int split_share_parse(const char *text, long *at, long *of, struct error *err);

/* The number of shards, out of `count`, that this reader gets: all get the
 * same, except with SPLIT_EXACT. */
size_t split_length(const struct split *split, size_t count);
/* The index among all shards of the reader's i-th one; i < split_length(). */
size_t split_at(const struct split *split, size_t count, size_t i);
/* The number of shards that are read twice, or by nobody. */
size_t split_repeated(const struct split *split, size_t count);
size_t split_dropped(const struct split *split, size_t count);

/*
 * The number of samples that every reader has in any epoch and order: the sum
 * of the smallest shards it can get.  `samples` has the number in each shard.
 * With SPLIT_EXACT: the number that this reader has in an unshuffled epoch.
 */
uint64_t split_samples(const struct split *split, const uint64_t *samples,
		       size_t count);

/*
 * Shuffles `count` shards for an epoch: order[i] is the list index of the i-th
 * shard to read.  The same numbers give the same order, in every version of the
 * program.
 */
void split_shuffle(uint64_t seed, uint64_t epoch, size_t *order, size_t count);

#endif
