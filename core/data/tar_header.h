/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks that stand before a member of a tar archive: a ustar header
 * (POSIX.1-1988), with a pax header (POSIX.1-2001) before it where a name or a
 * size does not fit.  They say nothing of who made the archive, and when.
 *
 * Not libarchive's, because that takes longer for a header than the kernel for
 * opening, reading and closing a small file (`make bench BENCH=shard` has
 * bsdtar, which is libarchive, beside ours).  What is read comes through
 * libarchive: core/data/tar_scan.h.
 */
#ifndef JOBRUN_TAR_HEADER_H
#define JOBRUN_TAR_HEADER_H

#include <stddef.h>
#include <stdint.h>

#define TAR_BLOCK 512
/* Two blocks of zeroes, or more. */
#define TAR_END (2 * TAR_BLOCK)
/* Longer ones are the caller's to refuse. */
#define TAR_PATH_MAX 4095
/* What tar_header_write() writes at most. */
#define TAR_HEADER_MAX                                                         \
	(2 * TAR_BLOCK + (TAR_PATH_MAX / TAR_BLOCK + 2) * TAR_BLOCK)

/* Bytes that the header of a regular file takes. */
size_t tar_header_size(const char *path, uint64_t size_bytes);

/* Writes it: mode 0644, owned by 0, from 1970.  Returns its length. */
size_t tar_header_write(char *to, const char *path, uint64_t size_bytes);

/* The zeroes that stand behind contents of this length. */
size_t tar_padding(uint64_t size_bytes);

#endif
