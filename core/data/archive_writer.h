/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes reproducible tar archives, identical for identical contents: entries
 * have no owner and all the same time, and files are 0644 or 0755.  Headers are
 * those of tar_header.h; libarchive compresses.
 */
#ifndef JOBRUN_ARCHIVE_WRITER_H
#define JOBRUN_ARCHIVE_WRITER_H

#include <stddef.h>

#include "core/base/error.h"
#include "core/data/tree.h"

/* 1980-01-01, the earliest time that zip (and so a wheel) can store. */
#define ARCHIVE_TIME_S 315532800

enum archive_filter {
	ARCHIVE_PLAIN,
	ARCHIVE_GZIP, /* its header has no name and no time */
};

struct archive_writer;

/* Writes to `fd`, which the caller still owns; errors call the archive `name`.
 * Returns new, or NULL. */
struct archive_writer *archive_writer_new(int fd, const char *name,
					  enum archive_filter filter,
					  struct error *err);

/* Adds a file with these bytes. */
int archive_writer_add(struct archive_writer *writer, const char *path,
		       const void *data, size_t len, struct error *err);

/*
 * Adds an entry of a tree in that folder, as `prefix`/its path.  Fails if a
 * file no longer matches its digest.
 */
int archive_writer_add_entry(struct archive_writer *writer, const char *prefix,
			     const char *folder, const struct tree_entry *entry,
			     struct error *err);

/* Writes the rest of the archive.  Frees the writer, also on failure. */
int archive_writer_finish(struct archive_writer *writer, struct error *err);
/* Frees the writer without finishing the archive.  Accepts NULL. */
void archive_writer_free(struct archive_writer *writer);

#endif
