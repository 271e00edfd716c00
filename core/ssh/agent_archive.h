/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The form in which folders go from one machine to another: one entry after
 * the other,
 *
 *	u8 kind		ARCHIVE_FILE and so on
 *	u32 len, path	below the folder, its parts divided by single slashes
 *	u64 size, bytes	of a file; of a link its target
 *
 * (little-endian), up to one of kind ARCHIVE_END, which has nothing more.
 * Folders are there if they are empty.  It is not tar, as a reader of tar is
 * ten times as long, and no other program has to read it.
 *
 * Unpacking trusts nothing: absolute paths, "..", entries below a link or a
 * file, entries that are there already and what is beyond the limits are
 * refused.  Nothing is written outside the folder: every part of a path is
 * opened without following a link.  Programs become 0700, files 0600.
 */
#ifndef JOBRUN_AGENT_ARCHIVE_H
#define JOBRUN_AGENT_ARCHIVE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

enum archive_kind {
	ARCHIVE_FILE = 'f',
	ARCHIVE_PROGRAM = 'x',
	ARCHIVE_LINK = 'l',
	ARCHIVE_FOLDER = 'd',
	ARCHIVE_END = 'e',
};

#define ARCHIVE_HEADER_MAX (1 + 4 + PATH_MAX + 8)

/* Writes the header of an entry; returns its length, 0 if the path is too
 * long. */
size_t archive_header(unsigned char to[ARCHIVE_HEADER_MAX],
		      enum archive_kind kind, const char *path, uint64_t size);

struct unpacking;

/* Into the folder open at `root`, which is borrowed; `max_bytes` in all its
 * files, `max_entries`. */
struct unpacking *unpacking_new(int root, uint64_t max_bytes,
				uint64_t max_entries);
void unpacking_free(struct unpacking *unpacking);
/* The next bytes of the archive.  -1 if they are refused or can't
 * be written; nothing may follow then. */
int unpacking_add(struct unpacking *unpacking, const void *data, size_t len,
		  struct error *err);
/* Whether ARCHIVE_END was seen, and so all is there. */
bool unpacking_is_done(const struct unpacking *unpacking);

/* Writes a folder with all that is below it to a descriptor, as it is: no
 * link is followed; sockets, pipes and devices are left out.  A file that
 * shrinks meanwhile is filled up with zeroes. */
int archive_pack(const char *folder, int to, struct error *err);

#endif
