/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the headers of a tar file as its bytes pass.  It finds where the file
 * may break off so that every reader notices: Python's tarfile, for one, takes
 * an end within or before a header for the end of the archive; nobody does so
 * within the contents of a member.  And it finds the zeroes that end an
 * archive, so that another archive may follow without them.
 */
#ifndef JOBRUN_STREAM_TAR_H
#define JOBRUN_STREAM_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_TAR_BLOCK 512u
/* The zeroes that an archive ends with, or more. */
#define STREAM_TAR_END (2 * STREAM_TAR_BLOCK)
/* More members than begin in what is held back. */
#define STREAM_TAR_MEMBERS 128u

/* What is no tar file does no harm. */
struct stream_tar {
	bool is_tar;     /* up to now */
	bool begun;      /* it has had a header */
	bool leaves_end; /* the zeroes of an end are none of its bytes */
	bool is_sparse;  /* the next block goes on with GNU tar's sparse map */
	uint64_t zeros;  /* that were left out since the last header */
	uint64_t header; /* where the next one is */
	size_t have;     /* bytes of it */
	char block[STREAM_TAR_BLOCK];
	struct {
		uint64_t at, end; /* what is left of its records */
		size_t length;    /* of the record under way, as it says */
		size_t seen;      /* bytes of it */
		char text[40];    /* its first ones */
		uint64_t size;    /* of the next member */
		bool has_size;
	} pax;
	uint64_t sparse_size; /* of the contents behind the sparse map */
	struct {
		uint64_t start, end;   /* of its contents, in whole blocks */
	} members[STREAM_TAR_MEMBERS]; /* the last that have contents */
	size_t count;                  /* of all of these */
};

void stream_tar_begin(struct stream_tar *tar, bool leaves_end);
/* Takes the bytes from `at` on, in their order.  Returns how many: all, or up
 * to where stream_tar_skip() must be asked. */
size_t stream_tar_add(struct stream_tar *tar, uint64_t at, const char *data,
		      size_t len);
/* Returns how many of the next bytes, from `at` on, are left out because they
 * are of an end.  `*owed` zeroes left out before were of a header after all. */
size_t stream_tar_skip(struct stream_tar *tar, uint64_t at, const char *data,
		       size_t len, size_t *owed);
/* The next byte that it must see. */
uint64_t stream_tar_next(const struct stream_tar *tar);
/* Whether a tar file of `at` bytes, and what was left out, is whole. */
bool stream_tar_is_whole(const struct stream_tar *tar, uint64_t at);
/* The last place up to `end`, one byte before the end of a block and not long
 * past, that is within contents; 0 before the first contents, and `end` if the
 * object is not a tar file. */
uint64_t stream_tar_end(const struct stream_tar *tar, uint64_t end);

#endif
