/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one shard after the other: a tar archive of samples, whose bytes
 * follow from the names and contents of the files alone.  Each file is read
 * once, straight into the block that is written next, and the digests are made
 * of that while it is in the processor's cache.
 *
 * One for each thread; memory is a block of 512 KiB.
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
	atomic_bool stop; /* end soon, with ERROR_INTERRUPTED */
};

struct read_ahead_lane;
struct shard_writer;

/* Borrows all.  `sha256`: make that digest, too; `ahead` can be NULL. */
struct shard_writer *shard_writer_new(const struct samples *all, bool sha256,
				      struct shard_counters *counters,
				      struct read_ahead_lane *ahead);
void shard_writer_free(struct shard_writer *writer);

/*
 * Writes `count` samples from the `first` on to `fd`, an empty file that is
 * called `name` in errors.  Fills all of `out` but its name.  A file that
 * changes its size meanwhile, or is gone, is an error.
 */
int shard_writer_write(struct shard_writer *writer, size_t first, size_t count,
		       int fd, const char *name, struct shard_entry *out,
		       struct error *err);

#endif
