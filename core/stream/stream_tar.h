/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the headers of a tar file as its bytes pass.  It finds where the file
 * may break off so that every reader notices: some, such as Python's tarfile,
 * take an end within or before a header for the end of the archive, but none
 * does so within the contents of a member.  It also finds the zeroes that end
 * an archive, so that another archive may follow without them.
 */
#ifndef JOBRUN_STREAM_TAR_H
#define JOBRUN_STREAM_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_TAR_BLOCK 512u
/* The zeroes at the end of an archive, at least. */
#define STREAM_TAR_END (2 * STREAM_TAR_BLOCK)
/* More than the members that can begin in the held-back bytes. */
#define STREAM_TAR_MEMBERS 128u

/* Input that is not a tar file does no harm. */
struct stream_tar {
	bool is_tar;     /* the bytes so far are a tar file */
	bool begun;      /* a header was seen */
	bool leaves_end; /* its bytes exclude the zeroes of an end */
	bool is_sparse;  /* GNU tar's sparse map continues in the next block */
	uint64_t zeros;  /* zeroes left out since the last header */
	uint64_t header; /* the offset of the next header */
	size_t have;     /* bytes of that header seen */
	char block[STREAM_TAR_BLOCK];
	struct {
		uint64_t at, end; /* the rest of the pax records */
		size_t length;    /* the stated length of the current record */
		size_t seen;      /* bytes of the record seen */
		char text[40];    /* the first bytes of the record */
		uint64_t size;    /* of the next member */
		bool has_size;
	} pax;
	uint64_t sparse_size; /* of the contents after the sparse map */
	struct {
		uint64_t start, end;   /* of its contents, in whole blocks */
	} members[STREAM_TAR_MEMBERS]; /* the last ones with contents */
	size_t count;                  /* how many there were of these */
};

/* Reads the kind of a member and its size from its header; false for a block
 * that is none. */
bool stream_tar_read_header(const char *block, char *kind, uint64_t *size);
/* How many bytes of contents, in whole blocks, follow such a header. */
uint64_t stream_tar_contents(char kind, uint64_t size);

void stream_tar_begin(struct stream_tar *tar, bool leaves_end);
/* Takes the bytes from offset `at`, in order.  Returns how many it took: all,
 * or those up to where stream_tar_skip() must be called. */
size_t stream_tar_add(struct stream_tar *tar, uint64_t at, const char *data,
		      size_t len);
/* Returns how many bytes from offset `at` to leave out, as they are part of an
 * end.  `*owed` zeroes left out earlier belonged to a header after all. */
size_t stream_tar_skip(struct stream_tar *tar, uint64_t at, const char *data,
		       size_t len, size_t *owed);
/* The offset of the next byte that it must see. */
uint64_t stream_tar_next(const struct stream_tar *tar);
/* Whether a tar file of `at` bytes, plus the bytes left out, is complete. */
bool stream_tar_is_whole(const struct stream_tar *tar, uint64_t at);
/* The last offset up to `end`, one byte before the end of a block and not long
 * past, that is within contents; 0 before the first contents, and `end` if the
 * object is not a tar file. */
uint64_t stream_tar_end(const struct stream_tar *tar, uint64_t end);

#endif
