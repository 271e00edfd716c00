/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds where a tar file may break off so that every reader notices.  Python's
 * tarfile, for one, takes an end within or before a header for the end of the
 * archive; nobody does so within the contents of a member.
 */
#ifndef JOBRUN_STREAM_TAR_H
#define JOBRUN_STREAM_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_TAR_BLOCK 512u
/* More members than begin in what is held back. */
#define STREAM_TAR_MEMBERS 128u

/* Follows the headers of one object; what is none does no harm. */
struct stream_tar {
	bool is_tar;     /* up to now */
	uint64_t header; /* where the next one is */
	size_t have;     /* bytes of it */
	char block[STREAM_TAR_BLOCK];
	struct {
		uint64_t start, end;   /* of its contents, in whole blocks */
	} members[STREAM_TAR_MEMBERS]; /* the last that have contents */
	size_t count;                  /* of all of these */
};

void stream_tar_begin(struct stream_tar *tar);
/* The bytes from `at` on, in their order. */
void stream_tar_add(struct stream_tar *tar, uint64_t at, const char *data,
		    size_t len);
/* The last place up to `end`, one byte before the end of a block and not long
 * past, that is within contents; 0 before the first contents, and `end` if the
 * object is not a tar file. */
uint64_t stream_tar_end(const struct stream_tar *tar, uint64_t end);

#endif
