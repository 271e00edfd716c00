/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes reproducible tar archives, equal to the byte for equal contents:
 * entries belong to nobody, all have one time, and files are 0644 or 0755.
 * Headers are those of tar_header.h; libarchive compresses.
 */
#ifndef JOBRUN_ARCHIVE_WRITER_H
#define JOBRUN_ARCHIVE_WRITER_H

#include <stddef.h>

#include "core/base/error.h"
#include "core/data/tree.h"

/* 1980-01-01, the earliest time that zip (and so a wheel) can hold. */
#define ARCHIVE_TIME_S 315532800

enum archive_filter {
	ARCHIVE_PLAIN,
	ARCHIVE_GZIP, /* with neither name nor time in its header */
};

struct archive_writer;

/* Writes to `fd`, which stays the caller's; `name` is what errors call the
 * archive.  Returns new, or NULL. */
struct archive_writer *archive_writer_new(int fd, const char *name,
					  enum archive_filter filter,
					  struct error *err);

/* A file of these bytes. */
int archive_writer_add(struct archive_writer *writer, const char *path,
		       const void *data, size_t len, struct error *err);

/*
 * An entry of a tree in that folder, as `prefix`/its path.  A file whose
 * contents no longer match its digest is an error.
 */
int archive_writer_add_entry(struct archive_writer *writer, const char *prefix,
			     const char *folder, const struct tree_entry *entry,
			     struct error *err);

/* Writes the rest.  Frees the writer, also on failure. */
int archive_writer_finish(struct archive_writer *writer, struct error *err);
/* Leaves the archive unfinished; NULL does nothing. */
void archive_writer_free(struct archive_writer *writer);

#endif
