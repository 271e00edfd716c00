/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks that stand before a member of a tar archive: a ustar header
 * (POSIX.1-1988), with a pax header (POSIX.1-2001) before it where a name or a
 * size does not fit.  They do not say who made the archive, or when.
 *
 * All archives that we write have them.  libarchive takes longer for a header
 * than the kernel for opening, reading and closing a small file (`make bench
 * BENCH=shard` has bsdtar, which is libarchive, beside ours).
 * core/data/tar_scan.h reads archives, with libarchive.
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
/* The most that tar_header_write() writes: two headers, and a name and a target
 * in blocks. */
#define TAR_HEADER_MAX                                                         \
	(2 * TAR_BLOCK + 2 * ((TAR_PATH_MAX / TAR_BLOCK + 2) * TAR_BLOCK))

enum tar_kind {
	TAR_KIND_FILE = '0',
	TAR_KIND_LINK = '2', /* symbolic */
	TAR_KIND_FOLDER = '5',
};

struct tar_head {
	const char *path; /* of a folder with a slash at its end */
	enum tar_kind kind;
	unsigned mode;
	uint64_t size_bytes; /* of a file, else 0 */
	uint64_t time_s;
	const char *target; /* of a link, else NULL */
};

/* The size of the header in bytes. */
size_t tar_header_size(const struct tar_head *head);
/* Writes it.  Returns its length. */
size_t tar_header_write(char *to, const struct tar_head *head);

/* The number of zeroes to write after contents of this length. */
size_t tar_padding(uint64_t size_bytes);

#endif
