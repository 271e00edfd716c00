/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacks archives from others: Python source archives and wheels, and other
 * tar (plain, gzip, bzip2, xz, zstd) and zip files. libarchive reads them; the
 * files are made here, each relative to the descriptor of its folder and never
 * through a link, so that nothing is written outside.
 *
 * Absolute paths, "..", links that lead out, devices and pipes, entries below a
 * link or a file, and anything beyond the limits are errors that name the
 * archive and the entry.  Folders and programs become 0700, other files 0600;
 * owners, times, set-id bits and attributes are dropped.
 */
#ifndef JOBRUN_ARCHIVE_H
#define JOBRUN_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

struct archive_limits {
	uint64_t bytes; /* of all files, unpacked */
	size_t entries;
};

/*
 * Unpacks into `folder`, which must be missing or empty; its parents are made.
 * It appears complete or not at all: until then, the files are in a folder
 * beside it ("FOLDER.XXXXXX").  `limits` NULL: 8 GB in 200,000 entries.
 * `root`: the folder that the archive must be below, or NULL
 * (core/base/beneath.h).
 */
int archive_unpack(const char *path, const char *root, const char *folder,
		   const struct archive_limits *limits, struct error *err);

#endif
