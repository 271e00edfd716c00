/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads small files before they are needed.  A disk, and still more a network,
 * answers many questions at once as fast as one; reading file after file waits
 * for each.  Meanwhile a few threads open the files that come next and have the
 * kernel read them into its cache.
 *
 * They begin only when readers do wait (a thread that waits for the disk gives
 * its processor away, and the kernel counts that): with files that are in the
 * cache already they would only be in the way.
 */
#ifndef JOBRUN_READ_AHEAD_H
#define JOBRUN_READ_AHEAD_H

#include <stddef.h>

#include "core/shard/samples.h"

struct read_ahead;
struct read_ahead_lane; /* of one reader, on one thread */

/* Borrows the samples.  Never fails: without it all is only slower. */
struct read_ahead *read_ahead_new(const struct samples *all, unsigned lanes);
void read_ahead_free(struct read_ahead *ahead);

/* The lanes are numbered from 0. */
struct read_ahead_lane *read_ahead_lane(struct read_ahead *ahead,
					unsigned number);
/* The reader of the lane starts on the samples from `first` to before `end`. */
void read_ahead_begin(struct read_ahead_lane *lane, size_t first, size_t end);
/* The reader has come to the next sample. */
void read_ahead_step(struct read_ahead_lane *lane);

#endif
