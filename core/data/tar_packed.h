/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compressed tar archives (gzip, bzip2, xz, zstd), for whoever reads archives
 * at any place: they are unpacked into a file without a name in $TMPDIR.
 */
#ifndef JOBRUN_TAR_PACKED_H
#define JOBRUN_TAR_PACKED_H

#include "core/base/error.h"

/* The command that would unpack the file, by its first bytes; NULL: it is not
 * compressed, or cannot be read. */
const char *tar_packed_with(int fd);

/* Unpacks the file at `fd`, called `path` in errors.  Returns the descriptor of
 * the unpacked file. */
int tar_packed_open(int fd, const char *path, struct error *err);

#endif
