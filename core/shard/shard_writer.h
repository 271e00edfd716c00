/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes shards one after the other: tar archives of samples, whose bytes
 * depend only on the names and contents of the files.  Each file is read once,
 * straight into the block to be written, and digested while that is in the
 * processor's cache.
 *
 * One writer per thread; its memory is a block of 512 KiB.
 */
#ifndef JOBRUN_SHARD_WRITER_H
#define JOBRUN_SHARD_WRITER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/shard/samples.h"
#include "core/shard/shard_index.h"

/* Totals of all writers of a set. */
struct shard_counters {
	_Atomic uint64_t samples, bytes;
	atomic_bool stop; /* stop soon, with ERROR_INTERRUPTED */
};

struct read_ahead_lane;
struct shard_writer;

/* Borrows its arguments.  `sha256`: also compute that digest; `ahead` may be
 * NULL. */
struct shard_writer *shard_writer_new(const struct samples *all, bool sha256,
				      struct shard_counters *counters,
				      struct read_ahead_lane *ahead);
void shard_writer_free(struct shard_writer *writer);

/*
 * Writes `count` samples from index `first` to `fd`, an empty file called
 * `name` in errors.  Sets all of `out` except its name.  Fails if a file
 * changes its size meanwhile, or is gone.
 */
int shard_writer_write(struct shard_writer *writer, size_t first, size_t count,
		       int fd, const char *name, struct shard_entry *out,
		       struct error *err);

#endif
