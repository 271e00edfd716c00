/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads small files before they are needed.  A disk, and even more a network,
 * handles many requests at once as fast as one, while reading file after file
 * waits for each.  So a few threads open the next files and have the kernel
 * read them into its cache.
 *
 * They start only when readers really wait (a thread that waits for the disk
 * gives up its processor, which the kernel counts): if the files are cached
 * already, the threads would only get in the way.
 */
#ifndef JOBRUN_READ_AHEAD_H
#define JOBRUN_READ_AHEAD_H

#include <stddef.h>

#include "core/shard/samples.h"

struct read_ahead;
struct read_ahead_lane; /* for one reader, on one thread */

/* Borrows the samples.  Never fails: without read-ahead everything is only
 * slower. */
struct read_ahead *read_ahead_new(const struct samples *all, unsigned lanes);
void read_ahead_free(struct read_ahead *ahead);

/* Lanes are numbered from 0. */
struct read_ahead_lane *read_ahead_lane(struct read_ahead *ahead,
					unsigned number);
/* The lane's reader starts on the samples from `first` up to, but not
 * including, `end`. */
void read_ahead_begin(struct read_ahead_lane *lane, size_t first, size_t end);
/* The lane's reader has come to the next sample. */
void read_ahead_step(struct read_ahead_lane *lane);

#endif
