/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks before a member of a tar archive: a ustar header (POSIX.1-1988),
 * preceded by a pax header (POSIX.1-2001) if a name or a size does not fit.
 * They do not say who made the archive, or when.
 *
 * All archives that we write use these headers. libarchive takes longer for a
 * header than the kernel for opening, reading and closing a small file (`make
 * bench BENCH=shard` compares with bsdtar, which is libarchive).
 * core/data/tar_scan.h reads archives, with libarchive.
 */
#ifndef JOBRUN_TAR_HEADER_H
#define JOBRUN_TAR_HEADER_H

#include <stddef.h>
#include <stdint.h>

#define TAR_BLOCK 512
/* Two blocks of zeroes, or more. */
#define TAR_END (2 * TAR_BLOCK)
/* The caller refuses longer paths. */
#define TAR_PATH_MAX 4095
/* The most bytes that tar_header_write() writes: two headers, and blocks for a
 * name and a target. */
#define TAR_HEADER_MAX                                                         \
	(2 * TAR_BLOCK + 2 * ((TAR_PATH_MAX / TAR_BLOCK + 2) * TAR_BLOCK))

enum tar_kind {
	TAR_KIND_FILE = '0',
	TAR_KIND_LINK = '2', /* symbolic */
	TAR_KIND_FOLDER = '5',
};

struct tar_head {
	const char *path; /* ends with a slash for a folder */
	enum tar_kind kind;
	unsigned mode;
	uint64_t size_bytes; /* for a file, else 0 */
	uint64_t time_s;
	const char *target; /* for a link, else NULL */
};

/* The size of the header in bytes. */
size_t tar_header_size(const struct tar_head *head);
/* Writes the header.  Returns its length. */
size_t tar_header_write(char *to, const struct tar_head *head);

/* The number of zeroes to write after contents of this size. */
size_t tar_padding(uint64_t size_bytes);

#endif
